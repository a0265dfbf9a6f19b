"""Checks that the folders of the core use only what is in their own layer, and in those below.

A file uses a folder if it names a type that the folder declares. Members that an extension adds are not looked at.
"""

import collections
import pathlib
import re
import sys

# From the bottom up: the folders of one layer may use each other.
LAYERS = [
    ["Platform", "Support"],
    ["WorkerPool"],
    ["Operation", "Admission", "Queue", "Execution", "Observation", "Diagnosis", "Policies", "Trace"],
    ["Tasks", "Groups", "Graphs"],
]

DECLARATION = re.compile(
    r"^(?:(?:public|open|package|internal|fileprivate|private|final|indirect|@\w+(?:\([^)]*\))?)\s+)*"
    r"(?:class|struct|enum|protocol|actor|typealias)\s+([A-Z]\w*)",
    re.MULTILINE,
)


def code(text):
    """The text without comments, and without what is in string literals."""
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', re.sub(r"//.*", "", text))


def uses_upwards(root):
    """Yields each use of a type that a higher layer declares: the file, the type, and the folder of the type."""
    levels = {folder: level for level, folders in enumerate(LAYERS) for folder in folders}
    files = {path: code(path.read_text()) for path in sorted(root.rglob("*.swift"))}
    folders = {path: path.relative_to(root).parts[0] for path in files}
    unknown = set(folders.values()) - set(levels)
    if unknown:
        sys.exit(f"script/support/layers.py: no layer has the folder {', '.join(sorted(unknown))}")
    declared = collections.defaultdict(set)
    for path, text in files.items():
        for name in DECLARATION.findall(text):
            declared[name].add(folders[path])
    for path, text in files.items():
        level = levels[folders[path]]
        for name in sorted(set(re.findall(r"\b[A-Z]\w*\b", text))):
            if name in declared and min(levels[folder] for folder in declared[name]) > level:
                yield path.relative_to(root), name, min(declared[name])


def main():
    uses = list(uses_upwards(pathlib.Path(sys.argv[1])))
    for path, name, folder in uses:
        print(f"{path} uses {name}, which is in {folder}, a layer above")
    sys.exit(1 if uses else 0)


if __name__ == "__main__":
    main()
