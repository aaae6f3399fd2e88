#!/usr/bin/env python3
"""How setup, a frame and memory grow with the number of elements: one scene, its lattice ever finer.

usage: growth.py FLEXOR SCENE [--sizes 80k,160k,...] [--repeat N] [--frames N] [--set KEY=VALUE ...]
                 [--under COMMAND] [-o FILE.csv]
       growth.py --read FILE.csv

Each size is one `flexor run --json --no-record` with one outer and one inner iteration; times of a frame are medians of the
run. A size that was run several times (--repeat, or more rows in the CSV) counts with its fastest run: on a shared
machine the others were disturbed. For each quantity y the exponent p of y ~ tets^p is the slope of a straight line through the logarithms, over all sizes
and over the larger half of them. The table goes to stdout as Markdown; -o appends to a CSV as sizes are done, so a
study can be continued, and --read tabulates such a file without running anything.
"""
import argparse
import csv
import json
import math
import pathlib
import shlex
import subprocess
import sys

PHASES = ["local", "forward", "inner", "detect", "backward", "total"]
# column of the CSV, title, factor to the unit of the title, digits
COLUMNS = [
    ("tets", "tets", 1, 0),
    ("prone", "prone", 1, 0),
    ("factor_nonzeros", "factor, M entries", 1e-6, 1),
    ("setup_ms", "setup, s", 1e-3, 2),
    ("order_ms", "ordering, s", 1e-3, 2),
    ("factor_ms", "factor + Sigma, s", 1e-3, 2),
    ("inverse_ms", "Sigma^-1, s", 1e-3, 2),
    *[(f"{phase}_ms", f"{phase}, ms", 1, 1) for phase in PHASES],
    ("frames_per_second", "frames/s of the run", 1, 2),
    ("active", "rows that push, at most", 1, 0),
    ("forward_GB_per_s", "forward, GB/s", 1, 1),
    ("backward_GB_per_s", "backward, GB/s", 1, 1),
    ("read_GB_per_s", "plain reading, GB/s", 1, 1),
    ("engine_bytes", "engine, MB", 1e-6, 0),
    ("process_bytes", "process, MB", 1e-6, 0),
]
RATES = {"tets", "frames_per_second", "forward_GB_per_s", "backward_GB_per_s", "read_GB_per_s", "active"}


def size_of(text):
    unit = {"k": 1e3, "m": 1e6}.get(text[-1].lower(), 1)
    return int(float(text[:-1] if unit > 1 else text) * unit)


def measure(options, tets):
    command = [*shlex.split(options.under), options.flexor, "run", options.scene, "--json", "--no-record", "--no-cache", "-q",
               "--set", f"bodies[0].lattice.tets={tets}", "--set", "outer=1", "--set", "inner=1"]
    if options.frames:
        command += ["--set", f"run.frames={options.frames}"]
    for override in options.set:
        command += ["--set", override]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)}: exit code {done.returncode}")
    start, *_, summary = [json.loads(line) for line in done.stdout.splitlines()]
    row = {
        "asked": tets, "threads": start["threads"], "isa": start["isa"], "frames": summary["frames"],
        "tets": summary["tets"], "vertices": summary["vertices"], "prone": summary["prone_vertices"],
        "factor_nonzeros": summary["factor_nonzeros"], "factor_flops": summary["factor_flops"],
        "setup_ms": summary["setup_ms"]["total"], "order_ms": summary["setup_ms"].get("ordering"),
        "factor_ms": summary["ms_factor"], "inverse_ms": summary["ms_schur_inverse"],
        **{f"{phase}_ms": summary["ms_median"][phase] for phase in PHASES},
        **{key: summary[key] for key in ("frames_per_second", "forward_GB_per_s", "backward_GB_per_s", "read_GB_per_s")},
        "active": summary["max_active"], "inverted": summary["inverted"], "crossings": summary["surface_crossings"],
        "engine_bytes": summary["bytes_peak"], "process_bytes": summary["rss_peak"],
        "state_hash": summary["state_hash"],
    }
    return {key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()}


def append(path, row):
    new = not path.exists() or path.stat().st_size == 0
    with open(path, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, row, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)


def exponent(rows, key):
    points = [(math.log(float(r["tets"])), math.log(float(r[key]))) for r in rows if r[key] and float(r[key]) > 0]
    if len(points) < 2:
        return None
    mean_x, mean_y = (sum(column) / len(points) for column in zip(*points))
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def cell(value, digits=2):
    return "" if value in (None, "") else f"{float(value):,.{digits}f}"


def fastest(rows):
    best = {}
    for row in rows:
        tets = int(row["tets"])
        if tets not in best or float(row["total_ms"]) < float(best[tets]["total_ms"]):
            best[tets] = row
    return [best[tets] for tets in sorted(best)]


def table(rows):
    """One line a quantity, one column a size: a study has more quantities than sizes."""
    rows = fastest(rows)
    upper = rows[len(rows) // 2 if len(rows) > 3 else 0:]
    lines = ["| | " + " | ".join(cell(row["tets"], 0) for row in rows) + " | exponent | of the larger half |",
             "|---" * (len(rows) + 3) + "|"]
    for key, title, factor, digits in COLUMNS[1:]:
        values = [cell(float(row[key]) * factor, digits) if row[key] not in (None, "") else "" for row in rows]
        growth = ["", ""] if key in RATES else [cell(exponent(part, key)) for part in (rows, upper)]
        lines.append(f"| {title} | " + " | ".join(values + growth) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("flexor", nargs="?")
    parser.add_argument("scene", nargs="?")
    parser.add_argument("--sizes", default="80k,160k,320k,640k,1280k,2500k")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--frames", type=int, default=0, help="default: the scene's run")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--under", default="", metavar="COMMAND", help="put before each run, such as 'taskset -c 0,1'")
    parser.add_argument("-o", "--output", type=pathlib.Path, metavar="FILE.csv")
    parser.add_argument("--read", type=pathlib.Path, metavar="FILE.csv")
    options = parser.parse_args()
    if options.read:
        with open(options.read, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    elif options.flexor and options.scene:
        rows = []
        for size in options.sizes.split(",") * options.repeat:
            rows.append(measure(options, size_of(size)))
            print(f"{rows[-1]['tets']} tets: {rows[-1]['total_ms']} ms a frame", file=sys.stderr, flush=True)
            if options.output:
                append(options.output, rows[-1])
    else:
        parser.error("FLEXOR and SCENE, or --read FILE.csv")
    print(table(rows))


if __name__ == "__main__":
    main()
