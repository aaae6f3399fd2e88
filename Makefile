# The short way in. `make demo` bends the elbow; `make test` builds and tests. Both install what is missing (Debian 12).
JOBS   ?= 2
WERROR ?= OFF
BUILD  := build/release
FLEXOR := $(BUILD)/apps/flexor/flexor

.PHONY: all deps build program demo test check check-documents install clean help

all: build

help:
	@echo "make demo     build, bend the arm (600 k tets), export and draw it: out/elbow.*"
	@echo "make test     build and run every test"
	@echo "make check    layers, references, generated documents"
	@echo "make install  into PREFIX (default /usr/local)"

deps:
	@tools/install-deps.sh

build: deps
	@cmake --preset release -DFLEXOR_WERROR=$(WERROR)
	@cmake --build --preset release -j $(JOBS)

# what the demo needs, without the tests
program: deps
	@cmake --preset release -DFLEXOR_WERROR=$(WERROR)
	@cmake --build --preset release -j $(JOBS) --target flexor_cli flexor-make-arm flexor-fit-garment

test: build scenes/arm.obj
	@ctest --preset release -j $(JOBS)

check: check-documents
	@tools/check-layers.py
	@tools/check-references.py
	@tools/check-readme.py

check-documents: program
	@$(FLEXOR) schema --markdown | diff -u docs/scene.md - && echo "docs/scene.md is up to date"

scenes/arm.obj: | program
	@$(BUILD)/tools/flexor-make-arm $@

# clothes for scenes/makehuman-suit.yaml; scenes/README.md says what DATA holds
scenes/suit.obj: | program
	@test -n "$(DATA)" || { echo "say where the data are: make $@ DATA=FOLDER (scenes/README.md)" >&2; exit 2; }
	@$(BUILD)/tools/flexor-fit-garment "$(DATA)/makehuman/base.obj" "$(DATA)/makehuman-assets/female_elegantsuit01.obj" \
		"$(DATA)/makehuman-assets/female_elegantsuit01.mhclo" -o $@

demo: program scenes/arm.obj
	@mkdir -p out
	@$(FLEXOR) run scenes/elbow.yaml -f -o out/elbow
	@$(FLEXOR) export out/elbow.xdmf -f -o out/elbow.pc2
	@$(FLEXOR) export out/elbow.xdmf -f -o out/elbow.pvd --every 10
	@$(FLEXOR) render out/elbow.xdmf -f -o out/elbow.png --camera=-0.38:-0.9:0.68,0.25:0:0.15 --width 0.84 --frames 0,15,30,44,59,74
	@$(FLEXOR) render out/elbow.xdmf -f -o out/elbow-fold.png --camera fold --width 0.24 --frames 22,33,44,74
	@echo
	@echo "out/elbow.png                the arm at rest, bending, held"
	@echo "out/elbow-fold.png           the fold, close"
	@echo "out/elbow.obj, elbow.pc2     Blender: import the OBJ, add a Mesh Cache modifier with the PC2"
	@echo "out/elbow.xdmf               ParaView: every frame, all tets"
	@echo "out/elbow.pvd                ParaView: every tenth frame as VTU"
	@echo "out/elbow.run.json           settings, hashes and the summary's numbers"

PREFIX ?= /usr/local
install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf build out
