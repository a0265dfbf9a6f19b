"""Compiles each Swift block of the documentation, and runs the programs whose output it shows.

    samples.py PRODUCTS [DOCUMENT…]

PRODUCTS is the folder that contains the modules that `swift build` has built. script/check-samples describes what a
sample is. With documents, only the samples in these Markdown files are checked.
"""

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from module_options import module_options

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRELUDE = ROOT / "script" / "support" / "samples-prelude.swift"
MARKDOWN = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Docs/**/*.md", "Sources/**/*.md")
# The libraries of the C code of a module, because C has no imports that would name them.
LIBRARIES = {"HeadwayDrawing": ["-ljpeg", "-lpng16"]}
IMPORT = re.compile(r"^(?:@\w+(?:\(\w+\))? )?import (\w+)", re.M)
LINKED_IMPORT = re.compile(r"^(?:@?\w+(?:\(\w+\))? )*import (\w+)", re.M)
TESTABLE_IMPORT = re.compile(r"^@testable import (\w+)", re.M)
TEST_MAIN = "import Testing\n\nawait Testing.__swiftPMEntryPoint() as Never\n"
# A program, or a wait in it, that has not ended by then never ends.
LONGEST_RUN = 600
# For script/check-timing: how often each program runs, and the library that it runs with.
RUNS = int(os.environ.get("HEADWAY_SAMPLE_RUNS", "1"))
PRELOAD = {"LD_PRELOAD": os.environ["HEADWAY_SAMPLE_PRELOAD"]} if "HEADWAY_SAMPLE_PRELOAD" in os.environ else {}


@dataclasses.dataclass
class Block:
    """A fenced block: its text, the file, and the number of its first line."""

    path: pathlib.Path
    line: int
    language: str
    text: str
    before: str  # The last line of text before it.

    @property
    def place(self):
        return f"{self.path.relative_to(ROOT)}:{self.line}"

    @property
    def source(self):
        """The text, for the compiler, which takes file and line from it."""
        return f'#sourceLocation(file: "{self.path.relative_to(ROOT)}", line: {self.line})\n{self.text}\n#sourceLocation()\n'

    @property
    def imports(self):
        return IMPORT.findall(self.text)


@dataclasses.dataclass
class Program:
    """A block of Markdown with imports, the blocks that continue it, and its output."""

    blocks: list
    output: Block | None = None
    module: tuple | None = None  # The name and the block of the module of this document that it imports.

    @property
    def is_test(self):
        return "Testing" in self.blocks[0].imports

    @property
    def runs(self):
        return self.is_test or self.output is not None


def blocks(path, lines):
    """The fenced blocks of a text that is given as pairs of a line number and a line."""
    fence, begin, language, held, before = None, 0, "", [], ""
    for number, line in lines:
        found = re.match(r"^(\s*)```(\w*)", line)
        if fence is None and found:
            fence, begin, language, held = found.group(1), number + 1, found.group(2), []
            if not language:
                sys.exit(f"script/check-samples: {path.relative_to(ROOT)}:{number}: name the language, or text")
        elif fence is not None and found and not found.group(2):
            yield Block(path, begin, language, "\n".join(held), before)
            fence = None
        elif fence is not None:
            held.append(line.removeprefix(fence))
        elif line.strip():
            before = line.strip()


def comment_blocks(path):
    """The blocks in the documentation comments of a source file."""
    comment = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r"^\s*///(?: (.*)|)$", line)
        if found:
            comment.append((number, found.group(1) or ""))
        elif comment:
            yield from blocks(path, comment)
            comment = []
    yield from blocks(path, comment)


def programs(path):
    """The programs of a document."""
    current, last_was_swift, modules = None, False, {}
    for block in blocks(path, enumerate(path.read_text().splitlines(), 1)):
        if block.language == "swift":
            if block.imports or current is None:
                if current and (tested := TESTABLE_IMPORT.search(block.text)):
                    modules[tested.group(1)] = current.blocks[-1]
                imported = [(name, modules[name]) for name in block.imports if name in modules]
                current = Program([block], module=imported[0] if imported else None)
                yield current
            else:
                current.blocks.append(block)
        elif last_was_swift and block.before == "It prints:":
            if block.language != "text":
                sys.exit(f"script/check-samples: {block.place}: what a program prints is text")
            if len(current.blocks) > 1:
                sys.exit(f"script/check-samples: {block.place}: only a program that imports what it uses has an output")
            current.output = block
        last_was_swift = block.language == "swift"


class Compiler:
    """Calls the compiler with what every sample needs."""

    def __init__(self, products, folder):
        self.products, self.folder = products, folder
        self.options = ["-swift-version", "6", "-gnone"]
        library = subprocess.run(["swiftc", "-print-target-info"], capture_output=True, text=True, check=True).stdout
        resources = re.search(r'"runtimeResourcePath": "(.*)"', library).group(1)
        # For samples of a manifest.
        self.options += ["-I", f"{resources}/pm/ManifestAPI", "-package-description-version", "6.2.0"]
        self.options += module_options(ROOT, products)

    def call(self, *arguments):
        """Returns the complaints of the compiler, or an empty text."""
        run = subprocess.run(
            ["swiftc", *self.options, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True)
        return "" if run.returncode == 0 else run.stderr

    def check_comments(self, samples):
        """Checks the blocks of documentation comments, all in one module."""
        folder = self.folder / "Comments"
        folder.mkdir()
        files = [PRELUDE]
        for number, block in enumerate(samples):
            own = block.path.relative_to(ROOT / "Sources").parts[0]
            imports = {module: f"import {module}" for module in ("Headway", own)}
            body = block.source
            for line in IMPORT.finditer(block.text):
                imports[line.group(1)] = line.group(0)
                # Imports are moved to the top; an empty line keeps the numbers.
                body = body.replace(f"{line.group(0)}\n", "\n", 1)
            file = folder / f"Sample{number}.swift"
            effects = "async throws" if re.search(r"\bawait\b", body) else "throws"
            file.write_text(
                "".join(f"{imports[module]}\n" for module in sorted(imports))
                + f"private func sample{number}() {effects} {{\n{body}}}\n")
            files.append(file)
        # As a module of the package: declarations with package access have samples too. The package manager names a
        # package after its folder.
        package = re.sub(r"\W", "_", ROOT.name.lower())
        return self.call(
            "-typecheck", "-whole-module-optimization", "-suppress-warnings", "-module-name", "Samples",
            "-package-name", package, *files)

    def check_program(self, number, program):
        """Checks a program. Runs it if it is a test or its output is known."""
        folder = self.folder / f"Program{number}"
        folder.mkdir()
        main = folder / ("Tests.swift" if program.is_test else "main.swift")
        first, others = program.blocks[0], program.blocks[1:]
        main.write_text(first.source)
        executable = folder / "program"
        # A program that continues below might not use its variables yet; a complete one has no warnings.
        if not program.runs:
            complaint = "" if others else self.call("-typecheck", "-suppress-warnings", main)
        else:
            complaint = self.build(program, main, executable)
            for _ in range(RUNS):
                complaint = complaint or self.run(program, executable)
        if others and not complaint:
            source = first.source
            source += "".join(f"do {{\n{block.source}" for block in others) + "}\n" * len(others)
            main.write_text(source)
            complaint = self.call("-typecheck", "-suppress-warnings", main)
        return complaint

    def build(self, program, main, executable):
        block, objects, sources = program.blocks[0], [], [main]
        if program.is_test:
            entry = main.with_name("main.swift")
            entry.write_text(TEST_MAIN)
            sources.append(entry)
        if program.module:
            name, source = program.module
            complaint = self.build_module(name, source, main.parent)
            if complaint:
                return complaint
            objects.append(main.with_name(f"{name}.o"))
        modules = linked(["Headway", *block.imports], self.products)
        for target in modules:
            objects += objects_of(self.products / f"{target}.build")
        libraries = [option for target in modules for option in LIBRARIES.get(target, [])]
        return self.call(
            "-warnings-as-errors", "-I", main.parent, *sources, *dict.fromkeys(objects), *libraries, "-o", executable)

    def build_module(self, name, block, folder):
        """Builds a module of the document."""
        source = folder / f"{name}.swift"
        source.write_text(block.source)
        return self.call(
            "-warnings-as-errors", "-enable-testing", "-parse-as-library", "-module-name", name, "-emit-module",
            "-emit-module-path", folder / f"{name}.swiftmodule", "-c", source, "-o", folder / f"{name}.o")

    def run(self, program, executable):
        block = program.blocks[0]
        try:
            run = subprocess.run(
                [executable], cwd=self.folder, env=os.environ | PRELOAD, capture_output=True, text=True,
                timeout=LONGEST_RUN)
        except subprocess.TimeoutExpired:
            return f"{block.place}: error: the program did not end within {LONGEST_RUN} s\n"
        if run.returncode:
            output = run.stdout if program.is_test else ""
            return f"{block.place}: error: the program ended with {run.returncode}\n{output}{run.stderr}"
        if program.output is None:
            return ""
        expected = program.output.text + "\n"
        if run.stdout != expected:
            return f"{program.output.place}: error: the program prints something else:\n{run.stdout}"
        return ""


def linked(imported, products):
    """The modules that a program with these imports needs: those, and what their sources import.

    Modules of other packages are included if they were built. Those of the toolchain are not needed.
    """
    found, pending = [], list(imported)
    while pending:
        module = pending.pop()
        folders = [ROOT / "Sources" / module]
        for place in ("Sources/", ""):  # Most packages keep their modules in Sources, but GRDB doesn't.
            folders += products.parents[1].glob(f"checkouts/*/{place}{module}")
        folder = next((folder for folder in folders if folder.is_dir()), None)
        if module in found or folder is None or not (products / f"{module}.build").is_dir():
            continue
        found.append(module)
        pending += {name for path in folder.rglob("*.swift") for name in LINKED_IMPORT.findall(path.read_text())}
    return found


def objects_of(folder):
    """The objects of a target: of its sources as they are now, not of those that were removed or renamed."""
    files = folder / "output-file-map.json"
    if not files.exists():
        return sorted(folder.rglob("*.o"))
    return sorted(entry["object"] for entry in json.loads(files.read_text()).values() if "object" in entry)


def main(products, documents):
    comments = [] if documents else [
        block
        for path in sorted((ROOT / "Sources").rglob("*.swift"))
        for block in comment_blocks(path)
        if block.language == "swift"
    ]
    documents = documents or sorted({path for pattern in MARKDOWN for path in ROOT.glob(pattern)})
    found = [program for path in documents for program in programs(path)]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        compiler = Compiler(products, pathlib.Path(folder))
        calls = [pool.submit(compiler.check_comments, comments)] if comments else []
        calls += [pool.submit(compiler.check_program, number, program) for number, program in enumerate(found)]
        complaints = [call.result() for call in calls if call.result()]
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    if complaints:
        print("script/check-samples: samples do not compile, or print something else", file=sys.stderr)
        return 1
    count = len(comments) + sum(len(program.blocks) for program in found)
    outputs = sum(program.output is not None for program in found)
    tests = sum(program.is_test for program in found)
    print(f"{count} samples compile; {outputs} programs print what they should; {tests} samples of tests pass.")
    return 0


sys.exit(main(pathlib.Path(sys.argv[1]), [pathlib.Path(path).resolve() for path in sys.argv[2:]]))
