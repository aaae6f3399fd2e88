#!/usr/bin/env python3
"""The README's C example is examples/minimal.c to the letter, and files it links to exist."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
text = (root / "README.md").read_text(encoding="utf-8")
problems = []

blocks = re.findall(r"```c\n(.*?)```", text, flags=re.S)
example = (root / "examples" / "minimal.c").read_text(encoding="utf-8")
if blocks != [example]:
    problems.append("README.md: its C block is not examples/minimal.c")
for target in re.findall(r"\]\(([^)#]+)\)", text):
    if "://" not in target and not (root / target).exists():
        problems.append(f"README.md: links to {target}, which is not there")

for problem in problems:
    print(problem, file=sys.stderr)
if not problems:
    print("README.md: example and links are true")
sys.exit(1 if problems else 0)
