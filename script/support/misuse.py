"""Finds statements that stop the process without a message in a release build.

A release build drops the messages of `precondition` and `preconditionFailure`, and prints none for `fatalError()`. All
modules use `require` and `misuse` instead (Sources/Headway/System/Misuse.swift). `assert` checks Headway's own
invariants in debug builds, as do the functions in the files `…Invariants.swift`.
"""

import pathlib
import re
import sys

from swift_text import masked

# The function that prints the messages.
PRINTER = "Sources/Headway/System/Misuse.swift"
PATTERNS = [
    (r"\b(?:precondition|preconditionFailure|assertionFailure)\s*\(", "use require(_:_:) or misuse(_:)"),
    (r"\bfatalError\s*\(\s*\)", "write a message that names the object and the remedy"),
    (r"\btry!", "catch the error; if it can't occur, stop with misuse(_:)"),
]


def findings(root):
    for path in sorted((root / "Sources").rglob("*.swift")):
        name = path.relative_to(root).as_posix()
        if name == PRINTER or name.endswith("Invariants.swift"):
            continue
        text = path.read_text()
        # A call whose message is a string is not empty, though a masked string is blank.
        code = masked(text)
        for pattern, remedy in PATTERNS:
            for found in re.finditer(pattern, code):
                if '"' not in text[found.start():found.end()]:
                    yield f"{name}:{text.count(chr(10), 0, found.start()) + 1}: {found[0].strip()}: {remedy}"


def main():
    found = list(findings(pathlib.Path(__file__).resolve().parents[2]))
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
