#!/usr/bin/env python3
"""Reads every #include line and fails when an arrow between rooms points back.

A room may include itself and the rooms listed for it. Public headers (include/flexor) include the standard library and
each other. Apps and examples see public headers and their own folder only.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

BASE = ["base"]
MATH = BASE + ["math"]
CONSTRAINTS = MATH + ["sparse", "kernels", "constraints"]
MESH = CONSTRAINTS + ["mesh"]
SCENE = MESH + ["scene"]
CONTACT = SCENE + ["contact"]
MODEL = CONTACT + ["model"]
SOLVER = MODEL + ["solver"]
MAY_INCLUDE = {
    "base": BASE,
    "math": MATH,
    "sparse": MATH + ["sparse"],  # knows matrices, not meshes
    "kernels": MATH + ["kernels"],  # knows plain arrays
    "constraints": CONSTRAINTS,
    "mesh": MATH + ["mesh"],
    "scene": SCENE,
    "contact": CONTACT,
    "model": MODEL,
    "solver": SOLVER,
    "recording": SOLVER + ["recording"],
    "reduce": SOLVER + ["recording", "reduce"],
    "study": SOLVER + ["recording", "reduce", "study"],
}
ONLY_PUBLIC_BASE = {"base", "math", "sparse", "kernels"}
# A table of names and numbers, no code: the scene's schema reads the solver's settings from it.
TABLES = {"solver/settings.def"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) == '"', match.group(2)


def files(folder, *patterns):
    return sorted(p for pattern in patterns for p in (ROOT / folder).rglob(pattern))


def check_rooms(complain):
    for path in files("src", "*.c", "*.h", "*.inl", "*.def"):
        room = path.relative_to(ROOT / "src").parts[0]
        if room not in MAY_INCLUDE:
            complain(path, 1, f"room '{room}' is not in this script's list")
            continue
        for number, quoted, name in includes(path):
            if not quoted or name in TABLES:
                continue
            first = name.split("/")[0]
            if "/" not in name:
                if not (path.parent / name).exists():
                    complain(path, number, f'"{name}" is not in this room')
            elif first == "flexor":
                if room in ONLY_PUBLIC_BASE and name != "flexor/base.h":
                    complain(path, number, f'room {room} includes "{name}": only flexor/base.h is below it')
            elif first not in MAY_INCLUDE[room]:
                complain(path, number, f'room {room} includes "{name}": the arrow points back')
            if ".." in name:
                complain(path, number, f'"{name}": no way up')


def check_public(complain):
    for path in files("include", "*.h"):
        for number, quoted, name in includes(path):
            if quoted and not name.startswith("flexor/"):
                complain(path, number, f'public header includes "{name}"')
            if not quoted and not re.fullmatch(r"std\w+\.h", name):
                complain(path, number, f"public header includes <{name}>: only the standard's std*.h")


def check_users(complain):
    for folder in ("apps", "examples"):
        for path in files(folder, "*.c", "*.h"):
            for number, quoted, name in includes(path):
                own = quoted and "/" not in name and (path.parent / name).exists()
                if quoted and not own and not name.startswith("flexor/"):
                    complain(path, number, f'includes "{name}": users see include/flexor only')
                if not quoted and name.split("/")[0] in MAY_INCLUDE:
                    complain(path, number, f"includes <{name}>: users see include/flexor only")


def main():
    bad = []
    complain = lambda path, number, text: bad.append(f"{path.relative_to(ROOT)}:{number}: {text}")
    check_rooms(complain)
    check_public(complain)
    check_users(complain)
    print("\n".join(bad) if bad else "layers: every arrow points the right way")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
