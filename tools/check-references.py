#!/usr/bin/env python3
"""Papers cited in comments and in docs/*.md, as [Barill18] or [LLKS], must exist in docs/references.bib, and what is there
must be cited somewhere."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# letters, an optional star or plus (as in MZS*11), two digits of the year; or the two papers this project is built on
KEY = re.compile(r"\[(LLKS|MPB|[A-Z][A-Za-z]*[*+]?[0-9]{2}[a-z]?)\]")
COMMENT = re.compile(r"//.*|/\*.*?\*/", re.S)
ENTRY = re.compile(r"^@\w+\{\s*([^,\s]+)\s*,", re.M)


def main():
    bib = ROOT / "docs" / "references.bib"
    if not bib.exists():
        print("docs/references.bib is missing")
        return 1
    known = set(ENTRY.findall(bib.read_text(encoding="utf-8")))
    bad = []
    cited = set()
    for folder in ("src", "include", "apps", "tests", "bench", "tools"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".c", ".h", ".inl", ".def"):
                continue
            text = path.read_text(encoding="utf-8")
            for comment in COMMENT.finditer(text):
                for match in KEY.finditer(comment.group()):
                    cited.add(match.group(1))
                    if match.group(1) not in known:
                        line = text.count("\n", 0, comment.start() + match.start()) + 1
                        bad.append(f"{path.relative_to(ROOT)}:{line}: [{match.group(1)}] is not in docs/references.bib")
    for path in sorted((ROOT / "docs").glob("*.md")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for match in KEY.finditer(line):
                cited.add(match.group(1))
                if match.group(1) not in known:
                    bad.append(f"{path.relative_to(ROOT)}:{number}: [{match.group(1)}] is not in docs/references.bib")
    bad += [f"docs/references.bib: nothing cites [{key}]" for key in sorted(known - cited)]
    print("\n".join(bad) if bad else f"references: {len(cited)} cited, all in docs/references.bib")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
