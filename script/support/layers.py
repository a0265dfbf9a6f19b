"""The layers of the core, and which names of higher layers a file uses.

A name is that of a type, or of a member. It counts if only folders of higher layers declare it, and the file itself does
not. Short names of members do not count, because variables have such names, too.
"""

import collections
import re

# From the bottom up: the folders of one layer may use each other.
LAYERS = [["System"], ["Threads"], ["Kernel"], ["Following", "Policies", "Diagnosis"], ["Building"]]
# The kernel may name features here.
SEAM = "Kernel/Lifecycle"
SHORTEST_MEMBER = 7
# Words of the language and the standard library (`addTask` is also a method of task groups).
STANDARD = {
    "addTask", "available", "background", "capacity", "contains", "continuous", "deallocate", "exchange", "keyPath",
    "newValue", "oldValue", "priority", "rawValue", "suspending", "unchecked", "utility",
}

MODIFIERS = r"(?:(?:public|open|package|internal|fileprivate|private|final|indirect|@\w+(?:\([^)]*\))?)\s+)*"
DECLARATION = re.compile(rf"^{MODIFIERS}(?:class|struct|enum|protocol|actor|typealias)\s+([A-Z]\w*)", re.MULTILINE)
# The lines of members of types and extensions at the top level begin with two spaces. Other lines declare members of
# other types, and variables.
MEMBER = re.compile(
    r"^(  | {4,})(?:(?:@\w+(?:\([^)]*\))?|public|open|package|internal|fileprivate|private(?:\(set\))?|final|static|class|"
    r"mutating|override|convenience|nonisolated(?:\(unsafe\))?)\s+)*(?:func|var|let)\s+`?([a-z]\w+)", re.MULTILINE)


def code(text):
    """The text without comments, and without what is in string literals."""
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', re.sub(r"//.*", "", text))


def level(folder):
    return next(number for number, layer in enumerate(LAYERS) if folder.split("/")[0] in layer)


def declared_here(name, text):
    """Whether a file declares a member, a variable or a parameter with this name."""
    return re.search(rf"\b(?:let|var|func|case)\s+(?:\(.*)?{name}\b|[(,\s]{name}\s*:", text) is not None


class Core:
    """The sources of the core, by path: `folders` are named as in `structure`, such as `Kernel/Queue`."""

    def __init__(self, root):
        self.texts = {}
        self.folders = {}
        types, members, others = (collections.defaultdict(set) for _ in range(3))
        for path in sorted(root.rglob("*.swift")):
            self.texts[path] = code(path.read_text())
            parts = path.relative_to(root).parts
            self.folders[path] = "/".join(parts[:2]) if parts[0] in ("Kernel", "Building") else parts[0]
            for name in DECLARATION.findall(self.texts[path]):
                types[name].add(self.folders[path])
            for indentation, name in MEMBER.findall(self.texts[path]):
                (members if indentation == "  " else others)[name].add(self.folders[path])
        self.types = types
        self.members = {
            name: found | others[name] for name, found in members.items()
            if len(name) >= SHORTEST_MEMBER and name not in STANDARD}

    def uses_upwards(self):
        """Yields each use of a name that only higher layers declare: the path, the name, and a folder that declares it."""
        for path, text in self.texts.items():
            own = level(self.folders[path])
            for name in sorted(set(re.findall(r"\b[A-Za-z]\w*\b", text))):
                folders = self.types.get(name) or self.members.get(name)
                if folders and min(map(level, folders)) > own and not declared_here(name, text):
                    yield path, name, min(folders)
