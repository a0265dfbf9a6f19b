"""What script/check-sources does.

A file of Tests/SourceCompatibility has several cases, each of which begins with a line `// MARK: name`. A case is
compiled as a file of its own, against Foundation, and against Headway as script/migrate rewrites it. It may say what it
imports, if that is not Foundation alone; where it compiles, if not everywhere; and why the two differ:

    // Imports: Foundation, XCTest
    // Compiles: Foundation
    // Why: the classes are not Objective-C's.

Where: `Foundation`, `Headway`, or one of them and a language mode, as `Foundation 5`; separated by commas; or
`nowhere`. All cases of one library and mode are compiled in one go, since an error in one file does not hide those in
others. So the declarations of a case are private or have unique names. A case can import Library, a module with the
types and functions of Library.txt. One more case uses all these types.
"""

import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import hidden_names
import migrate

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "Tests" / "SourceCompatibility"
LIBRARY = SOURCES / "Library.txt"
COMBINATIONS = [(library, mode) for library in ("Foundation", "Headway") for mode in ("5", "6")]


class Case:
    def __init__(self, file, line, name, text):
        self.place = f"{file.relative_to(ROOT)}:{line}"
        self.name = name
        self.line = line
        self.text = text
        self.imports = (find(r"^// Imports: (.*)", text) or "Foundation").split(", ")
        self.reason = find(r"^// Why: (.*)", text)
        where = find(r"^// Compiles: (.*)", text)
        self.compiles = set(COMBINATIONS) if where is None else self.combinations(where)

    def combinations(self, where):
        found = set()
        for item in [] if where == "nowhere" else where.split(", "):
            library, _, mode = item.partition(" ")
            matching = {c for c in COMBINATIONS if c[0] == library and mode in ("", c[1])}
            if not matching:
                sys.exit(f"{self.place}: {item!r} is neither Foundation nor Headway, with or without a mode")
            found |= matching
        return found

    def source(self, library):
        """The text, with as many lines before it as in its file; the line of its name has the imports."""
        imports = "; ".join(f"import {name}" for name in self.imports)
        text = "\n" * (self.line - 1) + imports + " " + self.text
        return text if library == "Foundation" else migrate.rewritten(text)


def find(pattern, text):
    found = re.search(pattern, text, re.M)
    return found[1] if found else None


def cases():
    found = []
    for file in sorted(SOURCES.glob("*.swift")):
        lines = file.read_text().splitlines(keepends=True)
        starts = [number for number, line in enumerate(lines) if line.startswith("// MARK: ")]
        for start, end in zip(starts, starts[1:] + [len(lines)]):
            name = lines[start].removeprefix("// MARK: ").strip()
            found.append(Case(file, start + 1, name, "".join(lines[start:end])))
    return found + [case_of_library()]


def module_options(products):
    """The options of the compiler to find Headway's modules."""
    options = ["-I", f"{products}/Modules", "-I", products]
    map_file = pathlib.Path(products) / "CHeadway.build" / "module.modulemap"
    return options + (["-Xcc", f"-fmodule-map-file={map_file}"] if map_file.exists() else [])


def compile_library(folder):
    lines = LIBRARY.read_text().splitlines()
    source = pathlib.Path(folder) / "Library.swift"
    source.write_text("".join(
        f"public {line}\n" if line.startswith("func ") else f"public struct {line} {{}}\n" for line in lines))
    subprocess.run(
        ["swiftc", "-emit-module", "-parse-as-library", "-module-name", "Library", "-swift-version", "5",
         "-emit-module-path", f"{folder}/Library.swiftmodule", str(source)], check=True)


def case_of_library():
    names = [line for line in LIBRARY.read_text().splitlines() if not line.startswith("func ")]
    text = ("// Imports: Foundation, Library\n"
            f"private func typesOfLibrary() -> [Any.Type] {{ [{', '.join(f'{name}.self' for name in names)}] }}\n")
    return Case(LIBRARY, 1, "all types of a library", text)


def compile(cases, combination, products, libraries):
    """The errors of each case, by its index."""
    library, mode = combination
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for index, case in enumerate(cases):
            file = pathlib.Path(folder) / f"Case{index}.swift"
            file.write_text(case.source(library))
            files.append(str(file))
        command = [
            "swiftc", "-typecheck", "-wmo", "-module-name", "Cases", "-swift-version", mode, "-suppress-warnings",
            "-diagnostic-style", "llvm", "-parse-as-library", "-I", libraries, *module_options(products),
        ]
        result = subprocess.run(command + files, capture_output=True, text=True)
    errors = {}
    for line in result.stderr.splitlines():
        if found := re.match(r".*/Case(\d+)\.swift:(\d+):\d+: error: (.*)", line):
            errors.setdefault(int(found[1]), []).append(f"line {found[2]}: {found[3]}")
        elif re.match(r"(<unknown>|.*): error: |.*crash", line):
            sys.exit(f"check-sources: {line}")
    if result.returncode != 0 and not errors:
        sys.exit(f"check-sources: the compiler failed:\n{result.stderr}")
    return errors


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--products", required=True)
    parser.add_argument("--show")
    options = parser.parse_args()
    begun = time.monotonic()
    all_cases = [case for case in cases() if options.show is None or options.show in case.name]
    if not all_cases:
        sys.exit("check-sources: there are no such cases")
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool, tempfile.TemporaryDirectory() as libraries:
        compile_library(libraries)
        answers = dict(zip(COMBINATIONS, pool.map(
            lambda item: compile(all_cases, item, options.products, libraries), COMBINATIONS)))
    wrong = 0
    for index, case in enumerate(all_cases):
        for library, mode in COMBINATIONS:
            errors = answers[library, mode].get(index, [])
            is_expected = (not errors) == ((library, mode) in case.compiles)
            if not is_expected:
                wrong += 1
                print(f"{case.place}: {case.name}: {library} {mode}: "
                      + ("compiles, which it should not" if not errors else "does not compile"))
            if not is_expected or options.show:
                for error in errors:
                    print(f"    {library} {mode}: {error}")
        if {m for l, m in case.compiles if l == "Foundation"} != {m for l, m in case.compiles if l == "Headway"} \
                and case.reason is None:
            wrong += 1
            print(f"{case.place}: {case.name}: differs, and does not say why")
    if options.show is None:
        wrong += hidden_names.check(module_options(options.products))
    if wrong:
        sys.exit(f"check-sources: {wrong} answers are not as expected")
    print(f"{len(all_cases)} sources compile, or do not, as expected; {time.monotonic() - begun:.0f} s.")


main()
