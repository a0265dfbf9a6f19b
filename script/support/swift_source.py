"""One Swift file: its code, its types, and the edits to make."""

import bisect
import functools
import re

from swift_text import end_of_braces, line_end, line_number, line_starts, masked

IMPORT = re.compile(
    r"(?m)(?:^|(?<=[;\r]))(?P<lead>[ \t]*(?:(?:@\w+(?:\([^)\n]*\))?|public|package|internal|fileprivate|private)\s+)*"
    r"import\s+)(?:(?P<kind>typealias|struct|class|enum|protocol|let|var|func)\s+)?"
    r"(?P<quote>`?)(?P<module>\w+)(?P=quote)(?P<name>\.[\w.]+)?")
# The attributes and modifiers of a declaration.
WORD = (r"(?:@\w+(?:\([^)\n]*\))?|(?:open|public|package|internal|fileprivate|private)(?:\(set\))?|final|dynamic"
        r"|override|indirect|nonisolated(?:\(unsafe\))?|class|static)\s+")
TYPE = re.compile(
    rf"(?P<words>(?:{WORD})*)\b(?P<kind>class|struct|enum|protocol|actor|extension)\s+"
    r"(?!(?:func|var|let|subscript|init)\b)(?P<name>(?:\w+\s*\.\s*)*\w+)\s*(?:<[^{}()]*?>)?\s*"
    r"(?::(?P<parents>[^{}()=]*?))?(?:\bwhere\b[^{}]*)?\{")


class Type:
    """A declaration of a type, or an extension of one, and where its braces are."""

    def __init__(self, found, code):
        self.words, self.kind = found["words"], found["kind"]
        *self.qualifiers, self.name = re.split(r"\s*\.\s*", found["name"])
        self.parents = [
            re.sub(r"<.*", "", parent, flags=re.S).split(".")[-1].split()[-1]
            for parent in re.split(r"[,&]", found["parents"] or "") if re.sub(r"<.*", "", parent).strip()]
        self.start, self.begin = found.start(), found.end() - 1
        self.end = end_of_braces(code, self.begin)


class Source:
    def __init__(self, path, text):
        self.path, self.text, self.code = path, text, masked(text)
        # A byte order mark stays before everything else.
        if text.startswith("\ufeff"):
            self.code = " " + self.code[1:]
        self.edits = []  # (begin, end, new text, kind)
        self.reports = []  # (position, message)
        self.rewritten = []  # (begin, end) of declarations that need no report
        self.imports = list(IMPORT.finditer(self.code))
        self.module = ""
        self.ending = "\r\n" if "\r\n" in text else "\n"

    @functools.cached_property
    def types(self):
        return [Type(found, self.code) for found in TYPE.finditer(self.code)]

    @functools.cached_property
    def braces(self):
        """The positions of all braces, and the depth after each."""
        positions, depths, depth = [], [0], 0
        for found in re.finditer(r"[{}]", self.code):
            depth += 1 if found[0] == "{" else -1
            positions.append(found.start())
            depths.append(depth)
        return positions, depths

    @functools.cached_property
    def lines(self):
        return line_starts(self.text)

    @property
    def modules(self):
        return {found["module"] for found in self.imports}

    def classes(self, names):
        """The declarations and extensions of classes with these names."""
        return [
            declared for declared in self.types if declared.name in names and declared.kind in ("class", "extension")
            and set(declared.qualifiers) <= {"Foundation", "HeadwayFoundation"}]

    def depth(self, position):
        """How many braces are open before a position."""
        positions, depths = self.braces
        return depths[bisect.bisect_left(positions, position)]

    def types_at(self, position):
        return [declared for declared in self.types if declared.begin < position < declared.end]

    def members(self, declared, pattern):
        """The matches in the body of a type, but not inside nested braces."""
        for found in pattern.finditer(self.code, declared.begin + 1, declared.end):
            if self.depth(found.start()) == self.depth(declared.begin) + 1:
                yield found

    def edit(self, begin, end, new, kind):
        self.edits.append((begin, end, new, kind))

    def line(self, position):
        return line_number(self.lines, position)

    def line_start(self, position):
        return self.lines[self.line(position) - 1]

    def line_text(self, position):
        return self.text[self.line_start(position):line_end(self.text, position)].strip("\ufeff \t")

    def indent(self, position):
        return re.compile(r"[ \t]*").match(self.text, self.line_start(position))[0]

    def result(self):
        parts, position = [], 0
        for begin, end, new, _ in sorted(self.edits, key=lambda edit: edit[:2]):
            parts += [self.text[position:begin], new]
            position = end
        return "".join(parts) + self.text[position:]
