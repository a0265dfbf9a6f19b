"""Checks the names of the members that Headway adds to Foundation's classes.

Inside a subclass, a member hides globals of the same name. So no member is named like a global of Swift, the C library,
Foundation or Dispatch, and the guide "Coming from Foundation" lists all members for people whose own globals they hide.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDE = ROOT / "Sources/Headway/Headway.docc/ComingFromFoundation.md"
# By class, the protocols whose extensions have its members.
CLASSES = {
    "Operation": {"Operation", "OperationProtocol", "OperationErrorProtocol", "KeyValueObservable"},
    "OperationQueue": {"OperationQueue", "OperationQueueProtocol", "KeyValueObservable"}}
# Members that Foundation's classes, or their subclasses, have on Apple platforms.
OF_FOUNDATION = {
    "addExecutionBlock", "automaticallyNotifiesObservers", "didChangeValue", "isConcurrent",
    "keyPathsForValuesAffectingValue", "threadPriority", "willChangeValue"}
C_LIBRARIES = {"linux": "Glibc", "darwin": "Darwin"}
MODULES = ["Swift", C_LIBRARIES.get(sys.platform, "Glibc"), "Foundation", "Dispatch"]


def symbols(compiler_options):
    with tempfile.TemporaryDirectory() as folder:
        target = json.loads(subprocess.run(
            ["swiftc", "-print-target-info"], check=True, capture_output=True, text=True).stdout)["target"]["triple"]
        subprocess.run(
            ["swift", "symbolgraph-extract", "-module-name", "Headway", "-minimum-access-level", "public", "-target",
             target, "-output-dir", folder, *compiler_options], check=True, capture_output=True)
        return json.loads((pathlib.Path(folder) / "Headway.symbols.json").read_text())["symbols"]


def members(graph):
    """The member names of both classes."""
    found = {name: set() for name in CLASSES}
    for symbol in graph:
        path = symbol["pathComponents"]
        if len(path) == 2 and symbol["kind"]["identifier"] != "swift.init":
            for name, owners in CLASSES.items():
                if path[0] in owners and re.match(r"\w", path[1]):
                    found[name].add(path[1].split("(")[0])
    return found


def missing(uses):
    """The uses that do not compile because the name does not exist."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "Uses.swift"
        imports = "; ".join(f"import {module}" for module in MODULES)
        file.write_text(imports + "\n" + "".join(f"func use{index}() {{ _ = {use} }}\n" for index, use in enumerate(uses)))
        result = subprocess.run(["swiftc", "-typecheck", "-swift-version", "5", "-diagnostic-style", "llvm", str(file)],
                                capture_output=True, text=True)
    lines = re.findall(r"Uses\.swift:(\d+):\d+: error: (?:.*has no member|no .* named|.*macro)", result.stderr)
    return {uses[int(line) - 2] for line in lines}


def listed():
    """The names that the guide lists, by class."""
    text = " ".join(GUIDE.read_text().split())
    operations, queues = (
        re.search(rf"For {kind}, these are (.*?)\. ", text)[1] for kind in ("operations", "queues"))
    return {"Operation": set(re.findall(r"`(\w+)", operations)), "OperationQueue": set(re.findall(r"`(\w+)", queues))}


def check(compiler_options):
    """Prints the problems and returns their number."""
    graph, in_guide, wrong = symbols(compiler_options), listed(), 0
    for name, its in members(graph).items():
        of_foundation = {use: member for member in its for use in [f"Foundation.{name}.`{member}`"]}
        added = {of_foundation[use] for use in missing(list(of_foundation))} - OF_FOUNDATION
        globals_ = [f"{module}.`{member}`" for module in MODULES for member in sorted(added)]
        for use in sorted(set(globals_) - missing(globals_)):
            wrong += 1
            print(f"{name}: a member hides {use.replace('`', '')}")
        for difference, what in ((added - in_guide[name], "lacks"), (in_guide[name] - added, "lists")):
            if difference:
                wrong += 1
                print(f"{name}: {GUIDE.name} {what} {', '.join(sorted(difference))}")
    # A program must be able to import a library with the same names.
    library = (ROOT / "Tests/SourceCompatibility/Library.txt").read_text().splitlines()
    kinds = {f"swift.{kind}" for kind in ("class", "struct", "enum", "protocol", "typealias")}
    types = {symbol["pathComponents"][0] for symbol in graph
             if len(symbol["pathComponents"]) == 1 and symbol["kind"]["identifier"] in kinds}
    of_foundation = {"Operation", "BlockOperation", "OperationQueue", "QualityOfService"}
    if absent := types - of_foundation - set(library):
        wrong += 1
        print(f"Tests/SourceCompatibility/Library.txt lacks {', '.join(sorted(absent))}")
    return wrong
