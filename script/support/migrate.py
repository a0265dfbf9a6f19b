"""What script/migrate does.

Text in strings and comments is left alone, and so is code in the interpolations of strings. A second run changes nothing.
Package manifests are only reported. Scripts that begin with `#!`, which Swift runs without a package, hidden folders and
folders of dependencies are left out.
"""

import argparse
import os
import pathlib
import re
import sys
import tempfile

MODULES = {"Foundation": "HeadwayFoundation", "FoundationNetworking": "HeadwayFoundationNetworking"}
OPERATIONS = ["Operation", "BlockOperation", "OperationQueue"]
# Names that HeadwayFoundation declares, and that Foundation has too, at least on Apple platforms.
NAMES = OPERATIONS + [
    "QualityOfService", "NSKeyValueObservation", "NSKeyValueObservingOptions", "NSKeyValueObservedChange",
    "NSKeyValueChange"]
# Modules that export Foundation: a file that imports one of them has Foundation's names.
EXPORTERS = set(
    "AppKit AVFoundation CloudKit Cocoa CoreData CoreLocation EventKit HealthKit MapKit Photos StoreKit SwiftUI UIKit"
    " UserNotifications WatchKit WebKit XCTest".split())
LEFT_OUT = {"Pods", "Carthage", "DerivedData", "node_modules"}

ANY_NAME = "|".join(NAMES)
IMPORT = re.compile(
    r"(?m)(?:^|(?<=;))(?P<lead>[ \t]*(?:@\w+(?:\([^)\n]*\))?\s+)*"
    r"(?:(?:public|package|internal|fileprivate|private)[ \t]+)?import[ \t]+)"
    r"(?:(?P<kind>typealias|struct|class|enum|protocol|let|var|func)[ \t]+)?(?P<module>\w+)(?P<name>\.[\w.]+)?")
QUALIFIED = re.compile(rf"(?<![\w.`])(?P<module>Foundation)(?=\s*\.\s*(?:{ANY_NAME})\b)")
DECLARED = re.compile(rf"\b(?:class|struct|enum|protocol|actor|typealias|associatedtype)\s+({ANY_NAME})\b")
USED = re.compile(rf"(?<![\w.`])({ANY_NAME})\b")
CLASS = re.compile(r"\bclass\s+(\w+)\s*(?:<[^{}]*?>)?\s*:\s*(?:\w+\s*\.\s*)?(\w+)")

# Places to change manually in classes of operations and queues, and in files that use them.
IN_CLASSES = [
    (r"\bclass\s+(?:func|var)\s+keyPathsForValuesAffecting(?!Value\b)\w+",
     "found by Objective-C only: override keyPathsForValuesAffectingValue(forKey:)"),
    (r"\boverride\b[^\n{]*\bvar\s+progress\s*:\s*(?:Foundation\s*\.\s*)?Progress\b",
     "the type is OperationProgress"),
    (r"@objc\b|@objcMembers\b",
     "the class is not Objective-C's: remove the attribute, and post changes of the property"),
    (r"#selector\b", "the class is not Objective-C's: use a closure"),
    (r"\b(?:value|setValue|mutableSetValue)\s*\([^\n]*\bforKey(?:Path)?:", "there is no key-value coding")]
IN_FILES = [
    (r"\baddObserver\s*\([^\n]*\bforKeyPath:",
     "use observe(_:options:changeHandler:) if this observes an operation or a queue"),
    (r"\bfunc\s+observeValue\s*\(\s*forKeyPath\b",
     "use observe(_:options:changeHandler:) if this observes an operation or a queue"),
    (r"#keyPath\s*\(", "write the name of an operation's property as a string"),
    (r"\bNS(?:Block)?Operation(?:Queue)?\b", "the old name of a class"),
    (r"\bobserve\s*\(\s*\\(?:OperationProgress|Progress)?\s*\.\s*fractionCompleted\b",
     "use progress.observe { progress in … } if this is the progress of an operation or a queue"),
    (r"\b(?:is|as[?!]?)\s+NSObject\b",
     "the classes are not subclasses of NSObject: use NSObjectProtocol or AnyObject for an operation or a queue"),
    (r"\boverride\b[^\n{]*\bvar\s+delegateQueue\s*:\s*OperationQueue\b", "write Foundation.OperationQueue for the type")]
OF_OTHERS = re.compile(r"\bCK(?!Operation\b)\w*Operation\b|\bCKOperation\b")


def masked(text):
    """The text with blanks for what is in strings, comments and regular expressions, and of the same length."""
    result = list(text)
    position = 0
    while position < len(text):
        end = end_of_literal(text, position)
        if end is None:
            position += 1
            continue
        for index in range(position, end):
            if text[index] not in "\r\n":
                result[index] = " "
        position = end
    return "".join(result)


def end_of_literal(text, start):
    """Where the comment, string or regular expression ends that begins at `start`; None if none does."""
    if text.startswith("//", start):
        return position_of(r"\r|\n", text, start)
    if text.startswith("/*", start):
        depth, position = 1, start + 2
        while depth > 0 and position < len(text):
            if text.startswith(("/*", "*/"), position):
                depth += 1 if text[position] == "/" else -1
                position += 2
            else:
                position += 1
        return position
    if text[start] == "/":
        # A regular expression stands where an operand does, and does not begin with a blank.
        before = text[:start].rstrip(" \t")
        found = re.compile(r"/(?![\s/*])(?:\\.|[^\\/\r\n])+/").match(text, start)
        return found.end() if found and (not before or before[-1] in "=(,:[{;!&|?\r\n") else None
    opening = re.compile(r'(#*)("""|"|/(?=[^/*]))').match(text, start)
    if not opening or (opening[2] == "/" and not opening[1]) or text[start] not in '#"':
        return None
    return end_of_string(text, opening.end(), opening[1], opening[2])


def end_of_string(text, position, hashes, quote):
    escape, close = "\\" + hashes, quote + hashes
    while position < len(text):
        if text.startswith(close, position):
            return position + len(close)
        if quote == '"' and text[position] in "\r\n":
            return position
        if quote != "/" and text.startswith(escape + "(", position):
            position = end_of_interpolation(text, position + len(escape) + 1)
        elif text.startswith(escape, position):
            position += len(escape) + 1
        else:
            position += 1
    return len(text)


def end_of_interpolation(text, position):
    depth = 1
    while depth > 0 and position < len(text):
        end = end_of_literal(text, position)
        if end is not None:
            position = end
            continue
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        position += 1
    return position


def position_of(pattern, text, start):
    found = re.compile(pattern).search(text, start)
    return found.start() if found else len(text)


class Source:
    """One file: its text, and what is to be changed and reported."""

    def __init__(self, path, text):
        self.path, self.text, self.code = path, text, masked(text)
        self.edits = []  # (position, length, new text, what is shown)
        self.reports = []  # (position, message)
        self.imports = [found for found in IMPORT.finditer(self.code)]

    @property
    def modules(self):
        return {found["module"] for found in self.imports}

    @property
    def exports_foundation(self):
        """Whether files that import the module of this one get Foundation's names from it."""
        return any(
            "@_exported" in found["lead"] and not found["kind"] and found["module"].endswith("Foundation")
            for found in self.imports)

    def uses(self, own_names):
        """The names of operations in the code, other than those that the project declares itself."""
        return {name for name in USED.findall(self.code) if name not in own_names}

    def replace_imports(self):
        for found in self.imports:
            new = MODULES.get(found["module"])
            if new is None:
                continue
            name = (found["name"] or "").removeprefix(".")
            if found["kind"] is None and name:
                self.reports.append((found.start("module"), f"imports a part of {found['module']}: import {new}"))
            elif found["kind"] is None or found["module"] != "Foundation" or name in NAMES:
                self.replace(found, new, "import")

    def replace_names(self):
        imported = {found.start("module") for found in self.imports}
        for found in QUALIFIED.finditer(self.code):
            if found.start() not in imported:
                self.replace(found, MODULES[found["module"]], "name")

    def replace(self, found, new, kind):
        self.edits.append((found.start("module"), len(found["module"]), new, kind))

    def add_import(self, names, is_exported):
        """Adds the import to a file that has Foundation's names by way of another module."""
        has_qualified = any(kind == "name" for *_, kind in self.edits)
        has_plain = any(
            found["kind"] is None and found["module"] in (*MODULES, *MODULES.values()) for found in self.imports)
        scoped = {(found["name"] or "").removeprefix(".") for found in self.imports if found["kind"]}
        missing = names - scoped
        if has_plain or is_exported or not (missing or has_qualified):
            return
        if not has_qualified and not self.modules & EXPORTERS:
            if self.imports:
                position = next(found.start() for found in USED.finditer(self.code) if found[1] in missing)
                self.reports.append(
                    (position, "imports nothing that is known to export Foundation: import HeadwayFoundation if this is"
                     " Foundation's class"))
            return
        ending = "\r\n" if "\r\n" in self.text else "\n"
        self.edits.append((self.place_of_import(), 0, f"import HeadwayFoundation{ending}", "added"))

    def place_of_import(self):
        """Before the first import, and before the condition in which that is, if it is in one."""
        end = self.imports[0].start() if self.imports else 0
        begins = []
        for found in re.finditer(r"(?m)^[ \t]*#(if|endif)\b", self.code[:end]):
            if found[1] == "if":
                begins.append(found.start())
            elif begins:
                begins.pop()
        return begins[0] if begins else self.text.rfind("\n", 0, end) + 1

    def bodies(self, classes):
        """The parts of the code that are inside of the given classes, or of extensions of them."""
        for found in re.finditer(r"\b(?:class|extension)\s+(?:\w+\s*\.\s*)?(\w+)", self.code):
            begin = self.code.find("{", found.end())
            if found[1] not in classes or begin < 0 or re.match(r"\s*(?:func|var)\b", self.code[found.end():]):
                continue
            depth, end = 1, begin + 1
            while depth > 0 and end < len(self.code):
                depth += {"{": 1, "}": -1}.get(self.code[end], 0)
                end += 1
            yield begin, end

    def report(self, classes, uses_operations):
        bodies = list(self.bodies(classes))
        patterns = [(pattern, message, bodies) for pattern, message in IN_CLASSES]
        if uses_operations or bodies:
            patterns += [(pattern, message, [(0, len(self.code))]) for pattern, message in IN_FILES]
        reported = set()
        for pattern, message, ranges in patterns:
            for begin, end in ranges:
                for found in re.compile(pattern).finditer(self.code, begin, end):
                    # The attribute of a member that has its own report needs none.
                    line = self.line(found.start())
                    key = (line, pattern) if pattern.startswith("#") else line
                    if key not in reported:
                        self.reports.append((found.start(), message))
                    reported.add(key)
        if found := OF_OTHERS.search(self.code):
            self.reports.append((found.start(), f"{found[0]} is one of Foundation's operations, and stays one"))

    def line(self, position):
        return self.text.count("\n", 0, position) + 1

    def line_text(self, position):
        end = position_of(r"\r|\n", self.text, position)
        return self.text[self.text.rfind("\n", 0, position) + 1:end].strip()

    def result(self):
        text = self.text
        for position, length, new, _ in sorted(self.edits, reverse=True):
            text = text[:position] + new + text[position + length:]
        return text


def rewritten(text):
    """One file by itself, with imports and qualified names replaced."""
    source = Source(None, text)
    source.replace_imports()
    source.replace_names()
    return source.result()


def classes_of_operations(sources):
    """The names of all classes that inherit from operations and queues, directly or through others."""
    parents = {}
    for source in sources:
        for name, parent in CLASS.findall(source.code):
            parents.setdefault(name, set()).add(parent)
    known = set(OPERATIONS)
    while added := {name for name, its in parents.items() if its & known} - known:
        known |= added
    return known


def read(folder):
    sources, manifests = [], []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in LEFT_OUT)
        for name in sorted(files):
            path = pathlib.Path(place) / name
            if not name.endswith(".swift") or path.is_symlink():
                continue
            # Bytes that are no text, and line ends, stay as they are.
            source = Source(path, path.read_bytes().decode("utf-8", "surrogateescape"))
            if source.text.startswith("#!"):
                continue
            (manifests if re.fullmatch(r"Package(@swift-[\d.]+)?\.swift", name) else sources).append(source)
    return sources, manifests


def migrate(folder):
    """Finds what to change and what to report in each file of a folder."""
    sources, manifests = read(folder)
    own_names = {name for source in sources for name in DECLARED.findall(source.code)}
    classes = classes_of_operations(sources)
    is_exported = any(source.exports_foundation for source in sources)
    for source in sources:
        source.replace_imports()
        source.replace_names()
        names = source.uses(own_names)
        source.add_import(names, is_exported)
        source.report(classes, bool(names & set(OPERATIONS)) or bool(QUALIFIED.search(source.code)))
    products = {new for source in sources for *_, new, kind in source.edits if kind == "import"}
    products |= {source_module for source in sources for source_module in source.modules & set(MODULES.values())}
    for manifest in manifests:
        # A package that the manifest has needs no line, whichever products its targets use.
        if not re.search(r"package:\s*\"headway\"|name:\s*\"headway\"|/headway(?:\.git)?\"", manifest.text, re.I):
            names = "products HeadwayFoundation and HeadwayFoundationNetworking" if (
                "HeadwayFoundationNetworking" in products) else "product HeadwayFoundation"
            manifest.reports.append((0, f"add the package, and the {names} to each target that needs them"))
    return sources + manifests


def write(path, text):
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".migrate", delete=False) as file:
        file.write(text.encode("utf-8", "surrogateescape"))
    os.chmod(file.name, path.stat().st_mode & 0o7777)
    os.replace(file.name, path)


def counted(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


def main(arguments):
    parser = argparse.ArgumentParser(prog="script/migrate", description="Moves sources to Headway's operations.")
    parser.add_argument("folder", metavar="DIR", type=pathlib.Path, help="the folder with the sources")
    parser.add_argument("--apply", action="store_true", help="change the files; otherwise only show the changes")
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        parser.error(f"{options.folder} is not a folder")
    sources = migrate(options.folder)
    counts = {"import": 0, "name": 0, "added": 0}
    for source in sources:
        path = source.path.relative_to(options.folder)
        for position, length, new, kind in sorted(source.edits):
            counts[kind] += 1
            old = source.line_text(position)
            shown = f"adds {new.strip()}" if kind == "added" else f"{source.text[position:position + length]} → {new}: {old}"
            print(f"{path}:{source.line(position)}: {shown}")
        if options.apply and source.edits:
            write(source.path, source.result())
    report_count = 0
    for source in sources:
        for position, message in sorted(source.reports):
            report_count += 1
            print(f"{source.path.relative_to(options.folder)}:{source.line(position)}: manually: {message}:"
                  f" {source.line_text(position)}")
    changed = sum(bool(source.edits) for source in sources)
    print(f"{changed} of {counted(len(sources), 'file')} {'changed' if options.apply else 'would change'}:"
          f" {counted(counts['import'], 'import')} and {counted(counts['name'], 'qualified name')} replaced,"
          f" {counted(counts['added'], 'import')} added; {counted(report_count, 'place')} to change manually")
    if changed and not options.apply:
        print("Nothing was written. To change the files, add --apply.")


if __name__ == "__main__":
    main(sys.argv[1:])
