"""The command line from outside: exit codes, messages, what goes to stdout and what to stderr, files, signals.

usage: test_cli.py FLEXOR SOURCE_FOLDER
"""
import csv
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

FLEXOR = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(sys.argv[2]).resolve()
BEAM = SOURCE / "scenes" / "beam.yaml"
FLOOR = SOURCE / "scenes" / "block-on-floor.yaml"
CASES = SOURCE.parent / "shared" / "cases"  # inputs that broke other engines; not part of the source
VERBS = ["run", "check", "mesh", "render", "export", "info", "schema", "bench", "reduce", "study"]

TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
TETRA = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
MEDIT = """MeshVersionFormatted 2
Dimension 3
Vertices
{count}
{vertices}
Tetrahedra
{tets}
{elements}
End
"""


class Cli(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.here = pathlib.Path(self.folder.name)
        self.environment = {k: v for k, v in os.environ.items() if k not in ("CI", "NO_COLOR")}

    def flexor(self, *words, code=0, stdin=None):
        done = subprocess.run([str(FLEXOR), *map(str, words)], cwd=self.here, env=self.environment, text=True,
                              capture_output=True, timeout=120, stdin=subprocess.DEVNULL if stdin is None else stdin)
        self.assertEqual(done.returncode, code, f"{words}\nstdout: {done.stdout}\nstderr: {done.stderr}")
        return done

    def write(self, name, text):
        path = self.here / name
        path.write_text(text, encoding="utf-8")
        return path

    def run_beam(self, *words, frames=3, code=0):
        return self.flexor("run", BEAM, "--set", f"run.frames={frames}", "--set", "outer=1", *words, code=code)


class Usage(Cli):
    def test_help_of_each_verb_is_data(self):
        for verb in VERBS:
            done = self.flexor(verb, "--help")
            self.assertIn(f"flexor {verb}", done.stdout)
            self.assertIn("--threads", done.stdout)
            self.assertEqual(done.stderr, "")
            self.assertLessEqual(max(map(len, done.stdout.splitlines())), 120)

    def test_overview_and_version(self):
        for verb in VERBS:
            self.assertIn(f"flexor {verb}", self.flexor("--help").stdout)
        for line in self.flexor("--help").stdout.splitlines():
            if line.startswith("  flexor reduce"):  # the longest form is shown whole
                self.assertTrue(line.endswith("snapshots SCENE"), line)
        self.assertRegex(self.flexor("--version").stdout, r"^flexor \d+\.\d+\.\d+ ")
        self.assertIn("flexor run", self.flexor(code=2).stderr)

    def test_wrong_words_are_usage_errors_with_a_hint(self):
        for words, hint in [(["chekc", "x"], "did you mean 'check'"),
                            (["run"], "flexor run SCENE"),
                            (["run", "a", "b"], "one too many"),
                            (["run", BEAM, "-o"], "-o needs a value"),
                            (["run", BEAM, "--treads", "3"], "did you mean --threads"),
                            (["run", BEAM, "-Z"], "-Z: no such option"),
                            (["run", BEAM, "--threads", "many"], "whole number from 0 to 256"),
                            (["run", BEAM, "--threads", "300"], "whole number from 0 to 256"),
                            (["run", BEAM, "--isa", "mmx"], "must be one of auto|scalar"),
                            (["run", BEAM, "--quiet=yes"], "takes no value"),
                            (["run", BEAM, "--no-record", "-o", "x"], "one of the two"),
                            (["export", "x"], "where to"),
                            (["render", "x", "--columns", "0"], "whole number"),
                            (["mesh", "x"], "where to")]:
            done = self.flexor(*words, code=2)
            self.assertRegex(done.stderr, re.compile(hint.replace("|scalar", r"\|scalar")))
            self.assertEqual(done.stdout, "")
            self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_completion_is_a_shell_script(self):
        text = self.flexor("--completion").stdout
        subprocess.run(["bash", "-n"], input=text, text=True, check=True)
        for verb in VERBS:
            self.assertIn(f"{verb})", text)

    def test_two_dashes_end_the_options(self):
        self.write("-x.obj", TETRA)
        self.flexor("check", "--", "-x.obj")


class Scenes(Cli):
    def test_mistakes_come_with_place_line_and_caret_all_at_once(self):
        scene = self.write("bad.yaml", "flexor: 1\nbodies:\n  - name: a\n    tet: a.mesh\nrun: {frames: many}\n")
        for verb in ("run", "check", "info"):
            done = self.flexor(verb, scene, code=3)
            self.assertRegex(done.stderr, r"bad\.yaml:4:5: error: .*tet")
            self.assertRegex(done.stderr, r"bad\.yaml:5:\d+: ")
            self.assertIn("^", done.stderr)
            self.assertEqual(done.stdout, "")

    def test_missing_scene_is_io(self):
        self.assertIn("nowhere.yaml", self.flexor("run", "nowhere.yaml", code=1).stderr)

    def test_wrong_override_names_it(self):
        self.assertIn("bogus", self.run_beam("--set", "bogus=1", code=3).stderr)
        self.assertIn("outer", self.run_beam("--set", "outer=0", code=3).stderr)

    def test_errors_are_events_with_json(self):
        done = self.flexor("run", "nowhere.yaml", "--json", code=1)
        event = json.loads(done.stdout)
        self.assertEqual((event["schema"], event["event"], event["exit"]), ("flexor.run/1", "error", 1))

    def test_schema_is_json_and_markdown(self):
        self.assertIn("properties", json.loads(self.flexor("schema").stdout))
        self.assertTrue("# Scenes" in self.flexor("schema", "--markdown").stdout)

    def test_docs_are_up_to_date(self):
        text = self.flexor("schema", "--markdown").stdout
        self.assertEqual((SOURCE / "docs" / "scene.md").read_text(encoding="utf-8"), text)


class Check(Cli):
    def medit(self, name, vertices, elements):
        return self.write(name, MEDIT.format(count=len(vertices), vertices="\n".join(f"{x} {y} {z} 0" for x, y, z in vertices),
                                             tets=len(elements), elements="\n".join(f"{a} {b} {c} {d} 0" for a, b, c, d in elements)))

    def test_good_surface(self):
        done = self.flexor("check", self.write("t.obj", TETRA))
        self.assertIn("closed", done.stdout)
        self.assertIn("usable", done.stdout)
        report = json.loads(self.flexor("check", "t.obj", "--json").stdout)
        self.assertTrue(report["usable"])
        self.assertAlmostEqual(report["enclosed_volume"], 1 / 6, delta=1e-12)

    def test_broken_files_say_where(self):
        self.assertIn("b.obj:4", self.flexor("check", self.write("b.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n"), code=3).stderr)
        self.assertIn("nothing.obj", self.flexor("check", "nothing.obj", code=1).stderr)

    def test_nothing_to_simulate_is_unusable(self):
        self.flexor("check", self.write("p.obj", "v 0 0 0\n"), code=3)

    def test_flat_tet_is_unusable_by_number_and_repairable(self):
        corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0)]
        path = self.medit("flat.mesh", corners, [(1, 2, 3, 4), (1, 2, 3, 5)])
        self.assertIn("2", self.flexor("check", path, code=3).stderr)
        self.flexor("check", path, "--repair")

    def test_a_surface_without_an_inside_is_refused_where_a_run_would(self):
        self.write("t.obj", TRIANGLE)
        done = self.flexor("check", "t.obj")
        self.assertIn("usable as cloth or the skin of a tet mesh, not", done.stdout)
        self.assertEqual(done.stderr, "")  # what the report says is not said twice
        self.assertFalse(json.loads(self.flexor("check", "t.obj", "--json").stdout)["has_inside"])
        self.write("good.obj", TETRA)
        text = ("flexor: 1\nbodies:\n  - {{name: b, surface: {}, lattice: {{tets: 500}}}}\n"
                "fix: {{body: b, region: all}}\nobstacles:\n  - {{name: o, mesh: {}}}\nrun: {{frames: 1}}\n")
        for body, obstacle, code in (("t.obj", "good.obj", 3), ("good.obj", "t.obj", 3), ("good.obj", "good.obj", 0)):
            path = self.write("s.yaml", text.format(body, obstacle))
            checked = self.flexor("check", path, code=code)
            self.assertEqual(checked.stderr.count("error:"), 1 if code else 0)
            self.flexor("run", path, "--no-record", "-q", code=code)

    def test_scene_says_what_the_run_needs(self):
        done = self.flexor("check", BEAM)
        self.assertRegex(done.stdout, r"about .* of memory, .* of setup")
        report = json.loads(self.flexor("check", BEAM, "--json").stdout)
        self.assertTrue(report["usable"])
        self.assertGreater(report["estimate"]["bytes"], 1e6)

    def test_a_scene_of_cloth_is_examined_and_its_manifest_names_the_mesh(self):
        cloth = SOURCE / "scenes" / "cloth-on-ball.yaml"
        report = json.loads(self.flexor("check", cloth, "--json").stdout)
        self.assertEqual(pathlib.Path(report["bodies"][0]["path"]).name, "sheet.obj")
        vertices = report["bodies"][0]["vertices"]
        self.assertEqual(report["estimate"]["vertices"], vertices)
        self.assertEqual(report["estimate"]["prone"], vertices)  # region: auto is all of a cloth
        self.assertIn("triangles of cloth", self.flexor("check", cloth).stdout)
        self.flexor("run", cloth, "--set", "run.frames=1", "-o", "c")
        self.assertEqual(json.loads((self.here / "c.run.json").read_text())["bodies"][0]["path"],
                         report["bodies"][0]["path"])

    def test_every_scene_that_comes_along_is_examined(self):
        for scene in sorted((SOURCE / "scenes").glob("*.yaml")):
            meshes = re.findall(r"[\w:/-]+\.(?:obj|mesh)", scene.read_text())
            if all((SOURCE / "scenes" / mesh).exists() for mesh in meshes):  # arm.obj is made, others may be data
                self.flexor("check", scene)

    def test_cloth_may_be_open(self):
        self.write("t.obj", TRIANGLE)
        path = self.write("rag.yaml", "flexor: 1\nbodies: {name: rag, cloth: t.obj, constraints: {spring: 1 N/m}}\n"
                                      "solver: {mode: dynamic}\nrun: {frames: 1}\n")
        done = self.flexor("check", path)
        self.assertIn("surface: open, area 0.5 m2\n", done.stdout)
        self.assertNotIn("holes", done.stdout)  # it needs no inside
        self.assertEqual(done.stderr, "")
        self.assertNotIn("open", self.flexor("run", path, "--no-record").stderr)

    def test_a_component_that_nothing_holds_is_named(self):
        a = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
        b = [(x + 5, y, z) for x, y, z in a]
        self.medit("two.mesh", a + b, [(1, 2, 3, 4), (5, 6, 7, 8)])
        text = ("flexor: 1\nname: two\nbodies:\n  - {name: two, tets: two.mesh, material: {young: 1 MPa, density: 1000}}\n"
                "fix: {body: two, region: {box: {min: [-1, -1, -1], max: [2, 2, 2]}}}\nrun: {frames: 1, fps: 30}\n")
        done = self.flexor("check", self.write("two.yaml", text), code=3)
        self.assertRegex(done.stdout, r"component of 4 vertices around \(5\.5, 0\.5, 0\.5\): nothing holds it")
        self.flexor("run", "two.yaml", "--no-record", code=3)


class Run(Cli):
    def test_no_frames_is_a_run_with_no_times_to_tell(self):
        done = self.run_beam("-o", "none", frames=0)
        self.assertNotIn("nan", done.stderr)
        self.assertIn("0 frames", done.stderr)
        self.assertEqual(json.loads(self.flexor("info", "none", "--json").stdout)["frames"], 1)

    def test_files_talk_and_data_are_kept_apart(self):
        done = self.run_beam("-o", "out/beam")
        self.assertEqual(done.stdout, "")
        for word in ("median", "penetration", "frames/s", "memory"):
            self.assertIn(word, done.stderr)
        self.assertNotIn("\033", done.stderr)  # no terminal: no colours, no bar
        for name in ("beam.xdmf", "beam.frames", "beam.checkpoint", "beam.run.json"):
            self.assertTrue((self.here / "out" / name).exists(), name)
        manifest = json.loads((self.here / "out" / "beam.run.json").read_text())
        self.assertEqual(manifest["summary"]["frames"], 3)
        self.assertEqual(manifest["scene_path"], str(BEAM))
        self.assertEqual(manifest["settings"]["outer"], 1)
        self.assertFalse(list((self.here / "out").rglob("*.tmp*")))

    def test_a_scene_alone_is_run(self):
        self.flexor(BEAM, "--set", "run.frames=1", "-q")
        self.assertTrue((self.here / "beam.xdmf").exists())

    def test_quiet_is_quiet(self):
        done = self.run_beam("-q", "--no-record")
        self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_json_is_one_event_a_line(self):
        events = [json.loads(line) for line in self.run_beam("--json", "--no-record").stdout.splitlines()]
        self.assertTrue(all(e["schema"] == "flexor.run/1" for e in events))
        kinds = [e["event"] for e in events]
        self.assertEqual(kinds[0], "start")
        self.assertEqual(kinds[-1], "summary")
        self.assertEqual([e["frame"] for e in events if e["event"] == "frame"], [1, 2, 3])
        self.assertEqual(events[-1]["inverted"], 0)
        self.assertEqual(events[-1]["surface_crossings"], 0)
        self.assertGreater(events[-1]["rss_peak"], 1e6)

    def test_passes_are_told_beside_plain_reading(self):
        done = self.run_beam("-o", "b", "--json")
        told = json.loads(done.stdout.splitlines()[-1])
        kept = json.loads((self.here / "b.run.json").read_text())["summary"]
        self.assertRegex(done.stderr, r"passes +forward \d+\.\d GB/s, backward \d+\.\d GB/s; plain reading \d+\.\d GB/s")
        for key in ("forward_GB_per_s", "backward_GB_per_s", "read_GB_per_s"):
            self.assertEqual(told[key], kept[key])
            self.assertTrue(0.01 < told[key] < 10000, told[key])  # a busy machine's disk to a rack of accelerators
        for way in ("forward", "backward"):  # every entry of the factor is read, in single precision, and some padding
            self.assertGreaterEqual(told[f"{way}_bytes"], 4 * told["factor_nonzeros"])
        double = json.loads(self.run_beam("--no-record", "--json", "--set", "precision=double").stdout.splitlines()[-1])
        self.assertEqual(double["forward_bytes"], 2 * told["forward_bytes"])

    def test_strategies_without_passes_say_nothing_of_them(self):
        done = self.run_beam("--no-record", "--json", "--set", "strategy=pcg")
        told = json.loads(done.stdout.splitlines()[-1])
        self.assertNotIn("passes", done.stderr)
        self.assertEqual((told["forward_bytes"], told["forward_GB_per_s"], told["read_GB_per_s"]), (0, None, None))

    def test_no_record_writes_nothing(self):
        self.run_beam("--no-record")
        self.assertEqual(list(self.here.iterdir()), [])

    def test_nothing_is_overwritten_unasked(self):
        self.run_beam("-o", "b")
        before = (self.here / "b.xdmf").read_bytes()
        self.assertIn("-f overwrites", self.run_beam("-o", "b", code=1).stderr)
        self.assertEqual((self.here / "b.xdmf").read_bytes(), before)
        self.run_beam("-o", "b", "-f", frames=2)
        self.assertEqual(json.loads(self.flexor("info", "b", "--json").stdout)["frames"], 3)
        self.flexor("render", "b", "--frames", "0", "--size", "32x24")
        self.assertIn("-f overwrites", self.flexor("render", "b", "--frames", "0", "--size", "32x24", code=1).stderr)
        self.flexor("export", "b", "-o", "b.pc2")
        self.assertIn("-f overwrites", self.flexor("export", "b", "-o", "b.pc2", code=1).stderr)

    def test_same_state_for_any_number_of_threads(self):
        hashes = set()
        for threads in (1, 2, 3):
            lines = self.run_beam("--json", "--no-record", "--threads", threads).stdout.splitlines()
            hashes.add(json.loads(lines[-1])["state_hash"])
        self.assertEqual(len(hashes), 1)

    def test_a_reader_that_goes_away_is_a_clean_end(self):
        done = subprocess.run(f"'{FLEXOR}' run '{BEAM}' --json --no-record --set run.frames=300 2>err | head -n 1; "
                              "echo ${PIPESTATUS[0]}", shell=True, executable="/bin/bash", cwd=self.here,
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.stdout.splitlines()[-1], "0", (self.here / "err").read_text())
        self.assertNotIn("error", (self.here / "err").read_text())

    def test_a_full_disk_is_said(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        for words in (["schema"], ["check", BEAM], ["run", BEAM, "--json", "--no-record", "--set", "run.frames=1"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([str(FLEXOR), *map(str, words)], cwd=self.here, stdout=full, stderr=subprocess.PIPE,
                                      text=True, timeout=60)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn("No space left", done.stderr)

    def test_progress_bar_on_a_terminal_only(self):
        try:
            parent, child = pty.openpty()
        except OSError as why:
            self.skipTest(f"no terminals here: {why}")
        environment = dict(self.environment, TERM="xterm")
        process = subprocess.Popen([str(FLEXOR), "run", str(BEAM), "--no-record", "--set", "run.frames=400"], cwd=self.here,
                                   stderr=child, stdout=subprocess.PIPE, env=environment)
        os.close(child)
        seen = b""
        try:
            while chunk := os.read(parent, 65536):
                seen += chunk
        except OSError:
            pass  # the terminal's other end is closed
        os.close(parent)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertIn(b"ETA", seen)
        self.assertIn(b"ms/step", seen)
        self.assertIn(b"\r\x1b[K", seen)


class Cache(Cli):
    """A body of more than 20,000 unknowns, the fewest that are kept, with a Schur complement on the floor."""

    def setUp(self):
        super().setUp()
        self.cache = self.here / "cache"
        self.environment.pop("FLEXOR_CACHE_GB", None)
        self.environment.update(XDG_CACHE_HOME=str(self.cache))
        self.write("t.obj", TETRA)
        self.scene = self.write("s.yaml", "flexor: 1\ngravity: 9.81\n"
                                "bodies: [{name: b, surface: t.obj, lattice: {tets: 130k}, velocity: [0, 0, -1]}]\n"
                                "obstacles: [{name: o, plane: {point: [0, 0, 0.01], normal: [0.1, 0, 1]}}]\n"
                                "contact: [{body: b, obstacle: o, region: {box: {min: [-1, -1, -1], max: [1, 1, 0.02]}}}]\n"
                                "solver: {mode: dynamic, outer: 1}\nrun: {frames: 2}\n")

    def kept(self):
        return sorted(self.cache.rglob("*.flexor-cache"))

    def run_scene(self, *words):
        done = self.flexor("run", self.scene, "--no-record", "--json", *words)
        told = json.loads(done.stdout.splitlines()[-1])
        self.assertGreater(told["prone_vertices"], 100)
        self.assertGreater(told["max_active"], 0)
        return told, done.stderr

    def test_the_second_run_finds_what_the_first_one_kept_and_moves_the_same(self):
        plain, _ = self.run_scene("--no-cache")
        self.assertFalse(self.cache.exists())
        first, _ = self.run_scene()
        self.assertEqual([p.name.split("-")[0] for p in self.kept()], ["factor", "order"])
        self.assertEqual([p.parent for p in self.kept()], [self.cache / "flexor"] * 2)
        second, talk = self.run_scene("--threads", "1")
        self.assertIn("found in the cache", talk)
        self.assertEqual([t["factor_found"] for t in (plain, first, second)], [False, False, True])
        self.assertEqual(len({t["state_hash"] for t in (plain, first, second)}), 1)
        double, _ = self.run_scene("--set", "precision=double")  # another factor, the same order
        self.assertFalse(double["factor_found"])
        self.assertEqual(len(self.kept()), 3)

    def test_damaged_files_are_told_and_replaced(self):
        plain, _ = self.run_scene()
        for path in self.kept():
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 1
            path.write_bytes(data)
        told, talk = self.run_scene()
        self.assertEqual(talk.count("warning"), 2)
        self.assertFalse(told["factor_found"])
        again, talk = self.run_scene()
        self.assertNotIn("warning", talk)
        self.assertTrue(again["factor_found"])
        self.assertEqual(len({t["state_hash"] for t in (plain, told, again)}), 1)

    def test_where_nothing_can_be_kept_one_note_is_enough(self):
        self.cache.write_text("a file, not a folder")
        told, talk = self.run_scene()
        self.assertEqual((talk.count("note"), talk.count("warning")), (1, 0), talk)
        self.assertIn("nothing is kept for later runs", talk)
        self.environment["FLEXOR_CACHE_GB"] = "0"
        self.assertEqual(self.run_scene()[1].count("note"), 0)
        self.environment["FLEXOR_CACHE_GB"] = "much"
        self.assertIn("FLEXOR_CACHE_GB", self.flexor("run", self.scene, code=2).stderr)

    def test_the_limit_holds(self):
        self.environment["FLEXOR_CACHE_GB"] = "0.001"  # room for the order, not for the factor
        self.run_scene()
        self.assertEqual([p.name.split("-")[0] for p in self.kept()], ["order"])

    def test_runs_at_once_end_alike(self):
        runs = [subprocess.Popen([str(FLEXOR), "run", str(self.scene), "--no-record", "--json", "-q"], text=True,
                                 cwd=self.here, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for _ in range(3)]
        ends = [r.communicate(timeout=120) for r in runs]
        self.assertEqual([r.returncode for r in runs], [0] * 3, ends)
        self.assertEqual(len({json.loads(out.splitlines()[-1])["state_hash"] for out, _ in ends}), 1)
        self.assertEqual([talk for _, talk in ends], [""] * 3)
        self.assertTrue(self.run_scene()[0]["factor_found"])

    def test_bench_times_the_whole_setup(self):
        self.flexor("bench", self.scene, "--frames", "1", "--threads", "2")
        self.assertFalse(self.cache.exists())


class Signals(Cli):
    def interrupt(self, number, *words, scene=BEAM, frames=2000, after=1):
        """Start a long run, send a signal once `after` frames came, return (process, stderr)."""
        process = subprocess.Popen([str(FLEXOR), "run", str(scene), "--json", "-o", "long", "--set", f"run.frames={frames}",
                                    *words], cwd=self.here, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=self.environment)
        for line in process.stdout:
            event = json.loads(line)
            if event["event"] == "frame" and event["frame"] >= after:
                break
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        return process, err

    def whole_frames(self):
        """Every frame of the recording opens and is exported; how many there are."""
        frames = json.loads(self.flexor("info", "long", "--json").stdout)["frames"]
        self.flexor("export", "long", "-o", "whole/x_%04d.ply", "-f")
        self.assertEqual(len(list((self.here / "whole").glob("x_*.ply"))), frames)
        return frames

    def go_on(self, command, frames, more):
        """Run the command that was printed for `more` frames in all; the resulting state's hash."""
        command = command.replace(f"run.frames={frames}", f"run.frames={more}")
        subprocess.run(command, shell=True, cwd=self.here, check=True, capture_output=True, timeout=60)
        self.assertEqual(self.whole_frames(), more + 1)
        return json.loads((self.here / "long.run.json").read_text())["summary"]["state_hash"]

    def straight(self, scene, *words):
        lines = self.flexor("run", scene, "--json", "--no-record", *words).stdout.splitlines()
        return json.loads(lines[-1])["state_hash"]

    def test_ctrl_c_saves_and_the_printed_command_ends_as_the_straight_run_does(self):
        # the second is dynamic and has contacts by then
        for scene, words, after in ((BEAM, ["--set", "outer=1"], 2), (FLOOR, ["--threads", "2"], 30)):
            with self.subTest(scene=scene.stem):
                process, err = self.interrupt(signal.SIGINT, "-f", *words, scene=scene, after=after)
                self.assertEqual(process.returncode, -signal.SIGINT)
                command = re.search(r"to go on:\n  (.*)\n", err).group(1)
                self.assertIn("--resume long.checkpoint", command)
                frames = self.whole_frames()
                self.assertGreater(frames, after)
                self.assertFalse(list(self.here.rglob("*.tmp*")))
                resumed = self.go_on(command, 2000, frames + 3)
                self.assertEqual(resumed, self.straight(scene, *words, "--set", f"run.frames={frames + 3}"))

    def test_terminate_does_the_same(self):
        process, err = self.interrupt(signal.SIGTERM)
        self.assertEqual(process.returncode, -signal.SIGTERM)
        self.assertIn("--resume long.checkpoint", err)

    def test_killed_at_any_moment_whole_frames_are_left_and_the_last_checkpoint_goes_on(self):
        words = ["--set", "outer=1", "--set", "run.checkpoint_every=2"]
        for after in (3, 4, 7, 12):
            with self.subTest(after=after):
                process, _ = self.interrupt(signal.SIGKILL, "-f", *words, after=after)
                self.assertEqual(process.returncode, -signal.SIGKILL)
                frames = self.whole_frames()
                self.assertGreater(frames, after)
        more = frames + 2
        command = f"'{FLEXOR}' run '{BEAM}' {' '.join(words)} --set run.frames=2000 -o long --resume long.checkpoint"
        self.assertEqual(self.go_on(command, 2000, more), self.straight(BEAM, *words, "--set", f"run.frames={more}"))

    def test_a_disk_that_fills_during_the_run_is_said_and_nothing_is_lost(self):
        mounted = self.here / "small"
        mounted.mkdir()
        script = ("mount -t tmpfs -o size=1m tmpfs small && "
                  f"'{FLEXOR}' run '{BEAM}' --set outer=1 --set run.frames=2000 -o small/long; code=$?; "
                  "cp -r small/. . && umount small && exit $code")
        done = subprocess.run(["unshare", "-rm", "bash", "-c", script], cwd=self.here, capture_output=True, text=True,
                              timeout=60)
        if "unshare:" in done.stderr or "mount:" in done.stderr:
            self.skipTest("not allowed to mount a small disk")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("the disk is full", done.stderr)
        frames = self.whole_frames()
        self.assertGreater(frames, 3)
        self.assertFalse(list(self.here.rglob("*.tmp*")))
        command = re.search(r"to go on:\n  (.*)\n", done.stderr).group(1).replace("small/", "")
        more = frames + 3
        self.assertEqual(self.go_on(command, 2000, more), self.straight(BEAM, "--set", "outer=1", "--set",
                                                                       f"run.frames={more}"))


class Cases(Cli):
    """What each folder of the cases expects of the command line; the readers have tests of their own."""

    def folder_of(self, name):
        if not (CASES / name).is_dir():
            self.skipTest(f"{CASES / name} is not there")
        return CASES / name

    def test_each_mesh_is_answered_in_words_and_with_a_documented_code(self):
        answered = 0
        for path in sorted(self.folder_of("").rglob("*.*")):
            if not path.is_file() or path.suffix in (".md", ".txt"):
                continue
            done = subprocess.run([str(FLEXOR), "check", "--", str(path)], cwd=self.here, env=self.environment, text=True,
                                  capture_output=True, timeout=60)
            self.assertIn(done.returncode, (0, 1, 3), path)
            self.assertEqual("error:" in done.stderr, done.returncode != 0, path)
            self.assertIn(path.stem if done.returncode else "vertices", done.stderr if done.returncode else done.stdout)
            self.assertNotIn("nan", done.stdout, path)
            answered += 1
        self.assertGreater(answered, 100)

    def test_bad_parameters_are_refused_by_name_with_their_range(self):
        keys = {"density": (BEAM, "bodies[0].material.density"), "young": (BEAM, "bodies[0].material.young"),
                "poisson": (BEAM, "bodies[0].material.poisson"), "dt": (BEAM, "run.fps"), "iterations": (BEAM, "outer"),
                "frames": (BEAM, "run.frames"), "stiffness": (FLOOR, "contact[0].stiffness"), "gravity": (BEAM, "gravity"),
                "friction": (FLOOR, "contact[0].friction"), "pin_weight": (BEAM, "fix[0].stiffness")}
        inverse = {"0": "inf", "-0.01": "-100", "inf": "0", "1e-6": "1e6"}  # frames a second instead of a time step
        for line in (self.folder_of("26-bad-parameters") / "params.txt").read_text().splitlines():
            words, _, comment = line.partition("#")
            name, *values = words.split()
            if name == "threads":
                continue  # not of the scene; 0 means all cores, and test_wrong_words... has the others
            scene, key = keys[name]
            value = inverse[values[0]] if name == "dt" else f"[{', '.join(values)}]" if len(values) > 1 else values[0]
            with self.subTest(line=line):
                good = "ok" in comment
                done = self.flexor("run", scene, "--no-record", "--json", "--set", "run.frames=1", "--set", f"{key}={value}",
                                   code=0 if good else 3)
                if good:  # one frame, and it is finite
                    summary = json.loads(done.stdout.splitlines()[-1])
                    self.assertEqual((summary["event"], summary["frames"], summary["diverged"]), ("summary", 1, False))
                else:
                    self.assertIn(key.split(".")[-1], done.stderr)
                    self.assertRegex(done.stderr, "allowed is|wanted is a finite number|unknown key")

    def test_what_a_run_needs_is_said_before_it_is_allocated(self):
        path = self.write("t.obj", TETRA)
        scene = self.write("s.yaml", f"flexor: 1\nbodies:\n  - {{name: b, surface: {path}, lattice: {{tets: 50 M}}}}\n"
                                     "fix: {body: b, region: {box: {min: [-1, -1, -1], max: [0.1, 1, 1]}}}\nrun: {frames: 1}\n")
        command = f"ulimit -v 1000000; exec '{FLEXOR}' check '{scene}' --json --threads 1"  # kB
        done = subprocess.run(["bash", "-c", command], cwd=self.here, capture_output=True, text=True, timeout=60)
        if "ASan" in done.stderr or "Sanitizer" in done.stderr:
            self.skipTest("a sanitizer needs more address space than this")
        self.assertEqual(done.returncode, 0, done.stderr)
        estimate = json.loads(done.stdout)["estimate"]
        self.assertGreater(estimate["bytes"], 2e10)
        self.assertGreater(estimate["setup_seconds"], 60)


class Divergence(Cli):
    def test_exit_4_and_the_last_good_state_is_saved(self):
        # motion beyond the allowed share of the body's size counts as diverged: one iteration of a heavy beam does it
        words = ["--set", "divergence=1", "--set", "gravity=1e6", "--set", "bodies[0].material.young=1e3"]
        done = self.run_beam("-o", "d", *words, code=4)
        self.assertIn("diverged", done.stderr)
        self.assertIn("d.checkpoint", done.stderr)
        self.assertTrue((self.here / "d.checkpoint").exists())
        self.assertTrue(json.loads((self.here / "d.run.json").read_text())["summary"]["diverged"])


class Bench(Cli):
    def bench(self, *words, code=0):
        done = self.flexor("bench", BEAM, *words, "-f", "-o", "b.csv", code=code)
        with open(self.here / "b.csv", newline="") as file:
            return done, list(csv.DictReader(file))

    def test_a_row_for_each_thread_count_and_the_same_state_in_all(self):
        done, rows = self.bench("--frames", "5", "--sweep-threads", "1,2,3", "--isa", "scalar", "-q")
        self.assertEqual(len(done.stdout.splitlines()), 4)
        self.assertEqual(done.stderr, "")
        self.assertEqual([row["threads"] for row in rows], ["1", "2", "3"])
        self.assertEqual(len({row["state_hash"] for row in rows}), 1)

    def test_the_columns_agree_with_each_other(self):
        _, rows = self.bench("--frames", "5", "--sweep-threads", "1,2")
        for row in rows:
            number = {key: float(value) for key, value in row.items() if key not in ("isa", "state_hash")}
            self.assertLessEqual(number["p10_ms"], number["total_ms"])
            self.assertLessEqual(number["total_ms"], number["p90_ms"])
            self.assertAlmostEqual(number["frames_per_second"] * number["total_ms"], 1000, delta=10)
            self.assertAlmostEqual(number["speedup"], float(rows[0]["total_ms"]) / number["total_ms"], delta=0.02)
            for key in ("frames_per_second_mean", "forward_GB_per_s", "backward_GB_per_s", "read_GB_per_s"):
                self.assertGreater(number[key], 0)

    def test_as_many_frames_as_the_scene_runs_unless_told(self):
        _, whole = self.bench("--set", "run.frames=3")
        _, three = self.bench("--frames", "3")
        _, two = self.bench("--frames", "2", "--set", "run.frames=3")
        self.assertEqual(whole[0]["state_hash"], three[0]["state_hash"])
        self.assertNotEqual(whole[0]["state_hash"], two[0]["state_hash"])

    def test_every_instruction_set_of_the_machine_is_in_the_sweep(self):
        _, rows = self.bench("--frames", "2", "--sweep-isa", "--threads", "1")
        self.assertEqual(rows[0]["isa"], "scalar")
        self.assertEqual(len({row["isa"] for row in rows}), len(rows))

    def test_without_passes_their_cells_are_empty(self):
        done, rows = self.bench("--frames", "2", "--set", "strategy=pcg")
        self.assertEqual((rows[0]["forward_GB_per_s"], rows[0]["backward_GB_per_s"]), ("", ""))
        self.assertEqual(len(done.stdout.splitlines()[1].split()), len(done.stdout.splitlines()[0].split()) - 4)


class Reduce(Cli):
    TWIST = SOURCE / "scenes" / "cloth-twist.yaml"

    def test_a_model_is_learnt_looked_at_and_run(self):
        few = ("--set", "run.frames=8")
        self.flexor("reduce", "train", self.TWIST, *few, "--modes", 6, "-o", "model.h5")
        facts = json.loads(self.flexor("reduce", "report", "model.h5", "--json").stdout)
        self.assertEqual(facts["method"], "secs")
        self.assertLess(facts["error"], 0.02)
        strain = next(c for c in facts["constraints"] if c["constraint"] == "strain")
        self.assertLessEqual(strain["projected"], 30)
        self.assertEqual(strain["count"], 3200)
        self.flexor("reduce", "run", "model.h5", self.TWIST, *few, "-o", "small")
        self.assertEqual(json.loads(self.flexor("info", "small", "--json").stdout)["frames"], 9)
        long = ("--set", "run.frames=1000000") # what is there already is seen before the run
        self.assertIn("exists", self.flexor("reduce", "train", self.TWIST, *long, "-o", "model.h5", code=1).stderr)
        self.flexor("reduce", "train", self.TWIST, *few, "--modes", 6, "--method", "w_secs", "--subspace", 12, "--accept",
                    "-o", "inside.h5")
        self.assertEqual(json.loads(self.flexor("reduce", "report", "inside.h5", "--json").stdout)["subspace"], 12)
        self.assertIn("whole", self.flexor("reduce", "train", self.TWIST, *few, "--subspace", 12, "-o", "no.h5",
                                           code=2).stderr)
        self.flexor("reduce", "train", self.TWIST, *few, "--modes", 6, "--method", "w_secs", "--handles", 4, "--accept",
                    "-o", "handles.h5")
        spanned = json.loads(self.flexor("reduce", "report", "handles.h5", "--json").stdout)["subspace"]
        self.assertIn(spanned, range(9, 13))  # a flat sheet: [1, x, y] of each handle, less what the others span
        said = self.flexor("reduce", "train", self.TWIST, *few, "--modes", 6, "--runs", 2, "--accept", "-o", "varied.h5")
        self.assertIn("and 2 varied ones", said.stdout)
        self.assertEqual(json.loads(self.flexor("reduce", "report", "varied.h5", "--json").stdout)["runs"], 2)
        self.flexor("reduce", "train", self.TWIST, *few, "--runs", -1, "-o", "no.h5", code=2)
        other = self.flexor("reduce", "run", "model.h5", SOURCE / "scenes" / "bar-twist.yaml", "--set",
                            "solver.mode=dynamic", code=2)
        self.assertIn("another system", other.stderr)

    def test_a_scene_with_contact(self):
        scene = SOURCE / "scenes" / "block-on-floor.yaml"
        few = ("--set", "run.frames=8")
        self.flexor("reduce", "train", scene, *few, "--method", "w_secs", "--modes", 8, "--rounds", 5, "-o", "m.h5")
        self.assertLess(json.loads(self.flexor("reduce", "report", "m.h5", "--json").stdout)["error"], 1e-3)
        self.assertIn("deepest", self.flexor("reduce", "run", "m.h5", scene, *few, "-o", "small").stderr)

    def test_snapshots_are_kept_by_set_and_not_overwritten(self):
        ask = ("reduce", "snapshots", self.TWIST, "--set", "run.frames=3", "--set-name", "test", "--kind", "last")
        self.assertIn("wrote 1 file", self.flexor(*ask, "-o", "s").stderr)
        with open(self.here / "s_0000.h5", "rb") as file:
            self.assertEqual(file.read(8), b"\x89HDF\r\n\x1a\n")
        self.assertIn("exists", self.flexor(*ask, "--frames", 1000000, "-o", "s", code=1).stderr)
        self.assertIn("must be one of", self.flexor(*ask, "-o", "t", "--kind", "some", code=2).stderr)

    def test_what_it_cannot_do_is_said(self):
        for scene, word in (("cloth-corners", "fixes"), ("cloth-on-ball", "contact"), ("beam", "quasi-static")):
            said = self.flexor("reduce", "train", SOURCE / "scenes" / f"{scene}.yaml", "-o", "m.h5", code=3).stderr
            self.assertIn(word, said)
            self.assertIn("w_secs", said) # the way out
        self.assertIn("-o", self.flexor("reduce", "train", self.TWIST, code=2).stderr)
        self.assertIn("report", self.flexor("reduce", "learn", self.TWIST, code=2).stderr)
        self.assertIn("must be one of",
                      self.flexor("reduce", "train", self.TWIST, "-o", "m.h5", "--method", "magic", code=2).stderr)
        still = ("--set", "mode=quasistatic", "--set", "proximal=0")
        self.assertIn("body 'block': nothing holds",
                      self.flexor("reduce", "train", FLOOR, *still, "--method", "w", "-o", "m.h5", code=3).stderr)
        self.write("no.h5", "nothing")
        self.flexor("reduce", "report", "no.h5", code=3)

    def test_what_nothing_holds_any_more_is_said(self):
        sheet = self.write("sheet.yaml", "flexor: 1\ngravity: 9.81\nsolver: {mode: quasistatic}\nrun: {frames: 6, fps: 30}\n"
                           f"bodies: [{{name: t, cloth: {SOURCE}/scenes/sheet.obj, material: {{area_density: 0.2}},\n"
                           "  constraints: [{strain: 100}, {bending: 5e-5}]}]\n"
                           "fix: [{region: {box: {min: [-0.51, -1, -1], max: [-0.49, 1, 1]}}, until: 10 s}]\n")
        self.flexor("reduce", "train", sheet, "--method", "w", "--modes", 10, "-o", "m.h5")
        said = self.flexor("reduce", "run", "m.h5", sheet, "--set", "fix[0].until=0.1 s", code=3).stderr
        self.assertIn("frame 3: what still holds", said)

    def test_where_nothing_can_be_written_is_said_once_and_before_the_run(self):
        self.write("file", "")
        long = ("--set", "run.frames=1000000")
        for verb in ("train", "snapshots"):
            said = self.flexor("reduce", verb, self.TWIST, *long, "-o", "file/folder/m.h5", code=1).stderr
            self.assertEqual(said.count("error"), 1, said)
            self.flexor("reduce", verb, self.TWIST, *long, "-o", "", code=2)


class Study(Cli):
    def study(self, *words, code=0):
        return self.flexor("study", "deim", "--size", "7", "--experiments", "T2", "--modes", "3,5", *words, code=code)

    def test_a_quick_study_writes_a_page_a_table_and_its_claims(self):
        done = self.flexor("study", "deim", "--quick", "-o", "out/study.html", "--progress", "lines")
        self.assertEqual(done.stdout, "")
        self.assertIn("ETA", done.stderr)
        page = (self.here / "out/study.html").read_text(encoding="utf-8")
        claims = json.loads((self.here / "out/study.json").read_text())["claims"]
        rows = list(csv.DictReader((self.here / "out/study.csv").read_text().splitlines()))
        self.assertEqual(sorted(p.name for p in (self.here / "out").iterdir()), ["study.csv", "study.html", "study.json"])
        for claim in claims:
            self.assertIn(f"<b>{claim['text']}</b>", page)
        self.check_claims(claims, rows)

    def test_the_study_that_is_kept_states_what_its_table_says(self):
        kept = SOURCE / "docs" / "study"
        self.check_claims(json.loads((kept / "deim.json").read_text())["claims"],
                          list(csv.DictReader((kept / "deim.csv").read_text().splitlines())))

    def check_claims(self, claims, rows):
        for method in ("block_deim", "deim", "gpd", "secs"):
            gone = {(r["experiment"], r["r"]) for r in rows
                    if r["method"] == method and r["reduced"] == "all" and r["verdict"] == "exploded"}
            stated = [c["value"] for c in claims if c["key"] == f"{method} exploded"]
            self.assertEqual(stated, [len(gone)])
        most = max(float(r["error"]) for r in rows if r["experiment"] == "T2" and r["method"] == "block_deim"
                   and r["reduced"] == "all" and r["load"] == "train")
        stated = [c["value"] for c in claims if c["figure"] == "figure7" and c["key"] == "T2 most"]
        self.assertAlmostEqual(stated[0] / most, 1, places=4)

    def test_lists_choose_what_is_run(self):
        self.study("--methods", "secs,gpd", "-o", "s.html", "-q")
        rows = list(csv.DictReader((self.here / "s.csv").read_text().splitlines()))
        self.assertEqual({r["experiment"] for r in rows}, {"T2"})
        self.assertEqual({r["method"] for r in rows}, {"secs", "gpd"})
        self.assertEqual({r["r"] for r in rows if r["reduced"] == "all"}, {"3", "5"})
        self.assertEqual({r["load"] for r in rows}, {"train", "3x", "unseen"})

    def test_nothing_is_overwritten_unless_asked(self):
        self.study("--methods", "secs", "-o", "s.html", "-q")
        self.study("--methods", "secs", "-o", "s.html", "-q", code=1)
        self.study("--methods", "secs", "-o", "s.html", "-q", "-f")

    def test_mistakes_are_usage_errors_that_name_the_word(self):
        for words, hint in ((["study"], "flexor study deim"), (["study", "magic"], "magic"),
                            (["study", "deim", "--experiments", "S1,Q7"], "Q7"),
                            (["study", "deim", "--methods", "magic"], "magic"),
                            (["study", "deim", "--modes", "10,6"], "ascending"),
                            (["study", "deim", "--modes", "six"], "six"), (["study", "deim", "--size", "4"], "--size 4")):
            self.assertIn(hint, self.flexor(*words, code=2).stderr)


class Pictures(Cli):
    def test_sheet_and_export(self):
        self.run_beam("-o", "b")
        self.flexor("render", "b.xdmf", "--size", "64x48", "--field", "displacement", "--camera", "side", "-o", "a.png")
        head = (self.here / "a.png").read_bytes()
        self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(int.from_bytes(head[16:20], "big"), 2 * 66 - 2)
        self.flexor("render", "b", "--size", "64x48", "--camera", "0.5:-3:0,0.5:0:0", "--frames", "1,3", "--columns", "1",
                    "-o", "c.png", "--wire")
        self.assertIn("the scene has side", self.flexor("render", "b", "--camera", "sid", code=2).stderr)
        self.assertIn("0 to 3", self.flexor("render", "b", "--frames", "9", code=2).stderr)
        self.assertIn("WIDTHxHEIGHT", self.flexor("render", "b", "--size", "9", code=2).stderr)
        self.flexor("export", "b", "-o", "x/b.pvd", "--every", "2")
        self.assertTrue((self.here / "x" / "b.pvd").exists())

    def test_a_recording_is_drawn_by_its_scenes_cameras_when_the_meshes_are_gone(self):
        self.write("t.obj", TRIANGLE)
        scene = self.write("rag.yaml", "flexor: 1\nbodies: {cloth: t.obj, constraints: {spring: 1 N/m}}\nrun: {frames: 1}\n"
                                       "solver: {mode: dynamic}\ncameras: [{name: side, from: [0.3, -3, 1], at: [0.3, 0, 0]}]\n")
        self.flexor("run", scene, "-o", "rag", "-q")
        (self.here / "t.obj").unlink()
        self.flexor("render", "rag", "--camera", "side", "--size", "64x48")

    def test_obstacles_and_bones_are_in_pictures_and_exports(self):
        self.write("t.obj", TETRA)
        scene = self.write("s.yaml", "flexor: 1\nbodies:\n  - {name: b, surface: t.obj, lattice: {tets: 500}}\n"
                                     "bones:\n  - {name: q, capsule: {from: [0.1, 0.1, 0.1], to: [0.3, 0.2, 0.2], radius: 0.05}}\n"
                                     "attach: {body: b, bones: [q], points: 20}\n"
                                     "obstacles:\n  - {name: floor, plane: {point: [0, 0, -0.1], normal: [0, 0, 1]}}\n"
                                     "  - {name: o, sphere: {center: [1, 1, 0], radius: 0.2}}\nrun: {frames: 1}\n")
        self.flexor("run", scene, "-o", "b", "-q")
        pictures = []
        for words in ([], ["--bones"], ["--no-obstacles"]):
            self.flexor("render", "b", "--frames", "1", "--size", "160x120", "-f", *words)
            pictures.append((self.here / "b.png").read_bytes())
        self.assertEqual(len(set(pictures)), 3)
        self.flexor("export", "b", "-o", "p.pvd")
        for part in ("surface", "obstacles", "bones"):
            self.assertIn(f"p_{part}_0001.vtu", (self.here / "p.pvd").read_text())
            self.assertTrue((self.here / f"p_{part}_0001.vtu").exists())

    def test_mesh_converts_and_fills(self):
        self.write("t.obj", TETRA)
        for ending in ("obj", "ply", "stl", "mesh", "msh"):
            self.flexor("mesh", "t.obj", "-o", f"u.{ending}")
            self.flexor("check", f"u.{ending}")
        self.assertIn("-f overwrites", self.flexor("mesh", "t.obj", "-o", "u.ply", code=1).stderr)
        self.flexor("mesh", "t.obj", "--cell", "0.1", "-o", "lattice.msh")
        report = json.loads(self.flexor("check", "lattice.msh", "--json").stdout)
        self.assertTrue(report["usable"])
        self.assertGreater(report["tets"], 1000)
        self.assertGreater(report["volume"], 1 / 6)  # the lattice covers the body

    def test_flat_and_single_triangle_inputs_are_handled(self):
        self.write("one.obj", TRIANGLE)
        self.assertIn("open", self.flexor("check", "one.obj").stdout)
        self.flexor("mesh", "one.obj", "--cell", "0.1", "-o", "x.msh", code=3)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:  # never the user's own
        os.environ["XDG_CACHE_HOME"] = cache
        unittest.main(argv=sys.argv[:1], verbosity=1)
