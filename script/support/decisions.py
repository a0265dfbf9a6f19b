"""Checks the pages of Docs/decisions: form, list, and that something that they explain refers to them.

A page is called NNNN-words.md. It begins with the title `# NNNN: …` and, after an empty line, `Status: accepted. Date:
YYYY-MM-DD.` A status can also be `proposed` or `replaced by NNNN`. The README of the folder lists it, and a source file,
Docs/architecture.md or Docs/public-api.md names it: `Docs/decisions/NNNN-words.md`.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "Docs" / "decisions"
# Where a reference to a page may be.
PLACES = ["Package.swift", "Docs/architecture.md", "Docs/public-api.md", "Benchmarks/README.md"]
PLACES += ["Sources/**/*.swift", "Sources/**/*.c", "Sources/**/*.md", "Models/**/*.pml", "script/**/*.py"]
STATUS = re.compile(r"Status: (?:accepted|proposed|replaced by \d{4})\. Date: \d{4}-\d{2}-\d{2}\.")


def references():
    """The names of all pages that something refers to."""
    text = "".join(path.read_text() for place in PLACES for path in ROOT.glob(place))
    return set(re.findall(r"decisions/(\d{4}-[\w-]+\.md)", text))


def faults(page, listed, referenced):
    number = page.name[:4]
    lines = page.read_text().splitlines()
    if not re.match(rf"# {number}: \S", lines[0]):
        yield f"begin with the title: # {number}: …"
    if len(lines) < 3 or lines[1] or not STATUS.fullmatch(lines[2]):
        yield "write after the title: Status: accepted. Date: YYYY-MM-DD."
    if page.name not in listed:
        yield "Docs/decisions/README.md does not list it"
    if page.name not in referenced:
        yield f"no source file refers to it: See Docs/decisions/{page.name}"


def main():
    listed, referenced = (FOLDER / "README.md").read_text(), references()
    pages = sorted(FOLDER.glob("[0-9]*.md"))
    found = [f"{page.relative_to(ROOT)}: {fault}" for page in pages for fault in faults(page, listed, referenced)]
    found += [f"{name}: there is no such decision" for name in sorted(referenced - {page.name for page in pages})]
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
