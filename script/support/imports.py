"""Checks that modules of one platform are imported only where `#if canImport` or `#if os` chooses among them.

The folders and files named `Platform` are the place for code of one platform; they are checked, too, except those that
hold such code alone.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = {"Glibc", "Musl", "Bionic", "Android", "Darwin", "WASILibc", "ucrt", "WinSDK", "Linux"}
IMPORT = re.compile(r"^\s*(?:(?:@\w+(?:\([^)]*\))?|public|package|internal|private)\s+)*import\s+(?:\w+\s+)?(\w+)")


def unguarded(path):
    """Yields the lines that import such a module outside of a condition about the platform."""
    conditions = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.strip()
        if text.startswith("#if"):
            conditions.append("canImport(" in text or "os(" in text)
        elif text.startswith("#endif"):
            conditions.pop()
        elif (found := IMPORT.match(line)) and found.group(1) in MODULES and not any(conditions):
            yield number, found.group(1)


def is_platform(path):
    return "Platform" in path.parts or path.name == "Platform.swift"


def main():
    found = [
        f"{path.relative_to(ROOT)}:{number}: import {module} only in Platform, or under #if canImport({module})"
        for path in sorted((ROOT / "Sources").rglob("*.swift")) if not is_platform(path)
        for number, module in unguarded(path)
    ]
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
