"""Checks that each file that a document of the core names exists: `Kernel/Queue/QueueState.swift` is one of `Sources/Headway`."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = ["CONTRIBUTING.md", "Docs/architecture.md", "Models/README.md", "Sources/Headway/Threads/README.md"]
PATH = re.compile(r"(?<![\w/.<])((?:[A-Za-z][\w+]*/)+[\w+]+\.(?:swift|pml|md|py))\b")


def missing(document):
    """Yields the line number and the path of each file that does not exist."""
    folders = [ROOT, ROOT / "Sources" / "Headway", (ROOT / document).parent]
    for number, line in enumerate((ROOT / document).read_text().splitlines(), 1):
        for path in PATH.findall(line):
            if not any((folder / path).exists() for folder in folders):
                yield number, path


def main():
    found = [(document, *place) for document in DOCUMENTS for place in missing(document)]
    for document, number, path in found:
        print(f"{document}:{number}: there is no {path}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
