"""What script/migrate does.

The words of strings and comments are left alone; the code in the interpolations of strings is not. A second run changes
nothing. Package manifests are only reported. Scripts that begin with `#!`, which Swift runs without a package, hidden
folders, folders of dependencies and build folders are left out. Either all files are changed, or none.
"""

import argparse
import os
import pathlib
import re
import sys

from migrate_keys import rewrite_keys
from migrate_reports import OPERATIONS, report
from replaced_files import ReplacementError, replace_files
from swift_source import WORD, Source

MODULES = {"Foundation": "HeadwayFoundation", "FoundationNetworking": "HeadwayFoundationNetworking"}
# Names that HeadwayFoundation declares, and that Foundation has too, at least on Apple platforms.
NAMES = OPERATIONS + [
    "QualityOfService", "NSKeyValueObservation", "NSKeyValueObservingOptions", "NSKeyValueObservedChange",
    "NSKeyValueChange"]
# Modules that export Foundation: a file that imports one of them has Foundation's names.
EXPORTERS = set(
    "AppKit AVFoundation CloudKit Cocoa CoreData CoreLocation EventKit HealthKit MapKit Photos StoreKit SwiftUI UIKit"
    " UserNotifications WatchKit WebKit XCTest".split())
DEPENDENCIES = {"vendor", "pods", "carthage", "sourcepackages", "node_modules", "checkouts"}
BUILDS = {"deriveddata"}

ANY_NAME = "|".join(NAMES)
QUALIFIED = re.compile(rf"(?<![\w.`])(?P<module>Foundation)(?=\s*\.\s*(?:{ANY_NAME})\b)")
DECLARED = re.compile(
    rf"(?P<words>(?:{WORD})*)\b(?P<kind>class|struct|enum|protocol|actor|typealias|associatedtype)\s+"
    rf"(?P<name>{ANY_NAME})\b")
USED = re.compile(rf"(?<![\w.`])({ANY_NAME})\b")


def replace_imports(source):
    for found in source.imports:
        new = MODULES.get(found["module"])
        if new is None:
            continue
        name = (found["name"] or "").removeprefix(".")
        if found["kind"] is None and name:
            source.reports.append((found.start("module"), f"imports a part of {found['module']}: import {new}"))
        elif found["kind"] is None or found["module"] != "Foundation" or name in NAMES:
            source.edit(found.start("module"), found.end("module"), new, "import")


def replace_names(source):
    imported = {found.start("module") for found in source.imports}
    for found in QUALIFIED.finditer(source.code):
        if found.start() not in imported:
            source.edit(found.start("module"), found.end("module"), MODULES[found["module"]], "name")


def rewritten(text):
    """Returns the text of a single file with imports and qualified names replaced."""
    source = Source(None, text)
    replace_imports(source)
    replace_names(source)
    return source.result()


class Project:
    """The files of a folder, and what they declare and import."""

    def __init__(self, folder):
        self.folder = folder
        self.sources, self.manifests, self.left_out = [], [], []
        self.libraries = {}  # By module and name: the kind of a declaration, and whether it is public.
        self.read()
        paths = dict(found for manifest in self.manifests for found in target_paths(manifest, folder))
        for source in self.sources:
            source.module = module_of(source.path, paths)
        self.own, self.nested = self.declarations()
        self.parents = {}
        for source in self.sources:
            for declared in source.types:
                self.parents.setdefault(declared.name, set()).update(declared.parents)
        self.classes = self.heirs(set(OPERATIONS))
        self.exporters = self.exporting_modules()

    def read(self):
        for place, folders, files in os.walk(self.folder):
            place = pathlib.Path(place)
            for name in sorted(folders):
                why = reason_to_leave(place / name)
                if why:
                    folders.remove(name)
                    self.read_libraries(place / name)
                if why and not name.startswith("."):
                    self.left_out.append((place / name, why))
            folders.sort()
            for name in sorted(files):
                if name.endswith(".swift"):
                    self.read_file(place / name)

    def read_file(self, path):
        if path.is_symlink():
            if not path.resolve().is_relative_to(self.folder.resolve()):
                self.left_out.append((path, "a link to a file outside of the folder"))
            return
        content = path.read_bytes()
        if b"\0" in content:
            self.left_out.append((path, "not UTF-8"))
            return
        # Other invalid bytes and line endings stay unchanged.
        source = Source(path, content.decode("utf-8", "surrogateescape"))
        if source.text.startswith("#!"):
            if source.modules & set(MODULES):
                self.left_out.append((path, "a script that Swift runs without a package"))
        elif re.fullmatch(r"Package(@swift-[\d.]+)?\.swift", path.name):
            self.manifests.append(source)
        else:
            self.sources.append(source)

    def read_libraries(self, folder):
        """Finds the Foundation names that the sources of a dependency declare for other modules."""
        for place, _, files in os.walk(folder):
            for name in files:
                path = pathlib.Path(place) / name
                if not name.endswith(".swift") or path.is_symlink():
                    continue
                text = path.read_bytes().decode("utf-8", "surrogateescape")
                if DECLARED.search(text):
                    source = Source(path, text)
                    source.module = module_of(path, {})
                    self.note_library(source)

    def note_library(self, source):
        for found in DECLARED.finditer(source.code):
            if source.depth(found.start("name")) == 0:
                kind = "class" if found["kind"] == "actor" else found["kind"]
                is_public = bool(re.search(r"\b(?:public|open)\b", found["words"]))
                self.libraries.setdefault(source.module, {})[found["name"]] = (kind, is_public)

    def library_names(self, source):
        """The names that other modules declare for a file: those that are public, or imported for tests."""
        for found in source.imports:
            is_tested = "@testable" in found["lead"]
            if not found["kind"]:
                for name, (kind, is_public) in sorted(self.libraries.get(found["module"], {}).items()):
                    if is_public or is_tested:
                        lead = "" if is_public else "@testable "
                        yield name, found["module"], f"{lead}import {kind} {found['module']}.{name}"

    def declarations(self):
        """The names that each module declares, and those that types declare inside of them."""
        own, nested = {}, {}
        for source in self.sources:
            for found in DECLARED.finditer(source.code):
                types = source.types_at(found.start("name"))
                if types:
                    nested.setdefault(found["name"], set()).add(types[-1].name)
                elif source.depth(found.start("name")) == 0:
                    own.setdefault(source.module, set()).add(found["name"])
            self.note_library(source)
        return own, nested

    def heirs(self, names):
        """The names, and the names of all types that inherit from them, directly or indirectly."""
        known = set(names)
        while added := {name for name, its in self.parents.items() if its & known} - known:
            known |= added
        return known

    def exporting_modules(self):
        """The modules of the project that export Foundation, directly or through others."""
        exports = {}
        for source in self.sources:
            exports.setdefault(source.module, set()).update(
                found["module"] for found in source.imports if "@_exported" in found["lead"] and not found["kind"])
        known = {"Foundation", "HeadwayFoundation"}
        while added := {module for module, its in exports.items() if its & known} - known:
            known |= added
        return known - {"Foundation", "HeadwayFoundation"}

    def uses(self, source):
        """The positions of Foundation's names in the code, by name."""
        found_uses = {}
        own = self.own.get(source.module, set())
        own = own | {name for name, *_ in self.library_names(source)}
        for found in USED.finditer(source.code):
            name = found[1]
            if name in own:
                continue
            inside = {declared.name for declared in source.types_at(found.start())}
            if not inside & self.heirs(self.nested.get(name, set())):
                found_uses.setdefault(name, found.start())
        return found_uses

    def add_import(self, source, uses):
        """Adds the import to a file that gets Foundation's names from another module."""
        has_qualified = any(kind == "name" for *_, kind in source.edits)
        has_plain = any(
            found["kind"] is None and found["module"] in (*MODULES, *MODULES.values()) for found in source.imports)
        scoped = {(found["name"] or "").removeprefix(".") for found in source.imports if found["kind"]}
        missing = set(uses) - scoped
        if has_plain or (source.modules | {source.module}) & self.exporters or not (missing or has_qualified):
            return
        if has_qualified or source.modules & EXPORTERS:
            add_line(source, "import HeadwayFoundation")
        elif source.imports:
            source.reports.append(
                (min(uses[name] for name in missing), "imports nothing that is known to export Foundation: import"
                 " HeadwayFoundation if this is Foundation's class"))

    def choose_libraries(self, source):
        """Imports the names of other libraries individually, because Headway's names would take precedence."""
        if not any(found["module"] in (*MODULES, *MODULES.values()) for found in source.imports):
            return
        scoped = {(found["module"], (found["name"] or "").removeprefix(".")) for found in source.imports}
        own = self.own.get(source.module, set())
        used = set(USED.findall(source.code)) - own
        for name, module, line in self.library_names(source):
            if name in used and (module, name) not in scoped:
                add_line(source, line)

    def migrate(self):
        """Finds what to change and what to report in each file."""
        for source in self.sources:
            replace_imports(source)
            replace_names(source)
            uses = self.uses(source)
            self.add_import(source, uses)
            self.choose_libraries(source)
            rewrite_keys(source, self.classes)
            report(source, self.classes, bool(set(uses) & set(OPERATIONS)) or bool(QUALIFIED.search(source.code)))
        products = {new for source in self.sources for *_, new, kind in source.edits if kind == "import"}
        products |= {module for source in self.sources for module in source.modules & set(MODULES.values())}
        for manifest in self.manifests:
            # A package that the manifest already contains needs no line, whichever products its targets use.
            if not re.search(r"package:\s*\"headway\"|name:\s*\"headway\"|/headway(?:\.git)?\"", manifest.text, re.I):
                names = "products HeadwayFoundation and HeadwayFoundationNetworking" if (
                    "HeadwayFoundationNetworking" in products) else "product HeadwayFoundation"
                manifest.reports.append((0, f"add the package, and the {names} to each target that needs them"))


def reason_to_leave(folder):
    name = folder.name.lower()
    if name.startswith("."):
        return "hidden"
    if folder.is_symlink():
        return "a link"
    if name in DEPENDENCIES:
        return "a folder of dependencies"
    # SwiftPM writes this file into each of its build folders.
    if name in BUILDS or (folder / "workspace-state.json").is_file():
        return "a build folder"
    return None


def target_paths(manifest, folder):
    """The folders of the targets that a manifest places elsewhere, with their names."""
    pattern = r'[tT]arget\s*\(\s*name:\s*"([^"]+)"(?:(?![tT]arget\s*\()[\s\S])*?\bpath:\s*"([^"]+)"'
    for found in re.finditer(pattern, manifest.text):
        yield (manifest.path.parent / found[2]).resolve(), found[1]


def module_of(path, paths):
    """The name of the module that a file belongs to; empty if the folders do not show it."""
    folders = path.resolve().parents
    for folder in folders:
        if folder in paths:
            return paths[folder]
        if folder.parent.name in ("Sources", "Source", "Tests"):
            return folder.name
    return ""


def add_line(source, line):
    """Adds a line before the first import, or before the condition that contains it."""
    end = source.imports[0].start() if source.imports else 0
    begins = []
    for found in re.finditer(r"(?m)^[ \t]*#(if|endif)\b", source.code[:end]):
        if found[1] == "if":
            begins.append(found.start())
        elif begins:
            begins.pop()
    position = begins[0] if begins else source.line_start(end)
    if position == 0 and source.text.startswith("\ufeff"):
        position = 1
    source.edit(position, position, line + source.ending, "added")


def counted(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


def show(project, is_applied):
    sources = project.sources + project.manifests
    counts = {"import": 0, "name": 0, "added": 0, "key": 0}
    for source in sources:
        path = source.path.relative_to(project.folder)
        for begin, end, new, kind in sorted(source.edits):
            counts[kind] += 1
            old, added = source.text[begin:end], " ".join(new.split())
            shown = f"adds {added}" if begin == end else f"{old.strip()} → {added}" if new else f"removes {old.strip()}"
            print(f"{path}:{source.line(begin)}: {shown}" + (f": {source.line_text(begin)}" if old else ""))
    report_count = 0
    for source in sources:
        for position, message in sorted(source.reports):
            report_count += 1
            print(f"{source.path.relative_to(project.folder)}:{source.line(position)}: manually: {message}:"
                  f" {source.line_text(position)}")
    for path, why in project.left_out:
        print(f"{path.relative_to(project.folder)}: left out: {why}")
    changed = sum(bool(source.edits) for source in sources)
    print(f"{changed} of {counted(len(sources), 'file')} {'changed' if is_applied else 'would change'}:"
          f" {counted(counts['import'], 'import')} and {counted(counts['name'], 'qualified name')} replaced,"
          f" {counted(counts['added'], 'import')} added, {counted(counts['key'], 'edit')} for observation;"
          f" {counted(report_count, 'place')} to change manually")
    if changed and not is_applied:
        print("Nothing was written. To change the files, add --apply.")


def main(arguments):
    parser = argparse.ArgumentParser(prog="script/migrate", description="Moves sources to Headway's operations.")
    parser.add_argument("folder", metavar="DIR", type=pathlib.Path, help="the folder with the sources")
    parser.add_argument("--apply", action="store_true", help="change the files; otherwise only show the changes")
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        parser.error(f"{options.folder} is not a folder")
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    project = Project(options.folder)
    project.migrate()
    if options.apply:
        encoded = {
            source.path: tuple(text.encode("utf-8", "surrogateescape") for text in (source.text, source.result()))
            for source in project.sources if source.edits}
        try:
            replace_files(encoded)
        except ReplacementError as error:
            sys.exit(f"No file was changed:\n{error}")
    try:
        show(project, options.apply)
        sys.stdout.flush()
    except BrokenPipeError:
        # The program that reads the output has closed it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main(sys.argv[1:])
