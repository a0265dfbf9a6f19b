"""Plants the faults of `faults.toml` in a copy of the core, one at a time, and has tests find them.

The copy contains all of them, so it is built only once. Each is guarded by a flag, which is set by `HEADWAY_FAULT` when
the process of the tests starts. The product has no such flags.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "script" / "support" / "faults.toml"
SCRATCH = ROOT / ".build-faults"
COPY = SCRATCH / "source"
CORE = "Sources/Headway"
TESTS = "Tests/HeadwayTests"
COPIED = [
    CORE, "Sources/CHeadway", "Sources/HeadwayTestKit", "Sources/HeadwayTrace", "Sources/CArchive",
    "Tests/CHeadwayTestSupport", "Tests/HeadwayTestSupport", TESTS,
]
FLAGS = f"{CORE}/Support/PlantedFault.swift"
# The watchdog of the tests terminates a process if no test begins or ends for this time.
HANG_SECONDS = "20"
MARKER = re.compile(r"\bFAULT(?:\(([a-z0-9-]+)\))?")


class Wrong(Exception):
    """The list of faults, or the code, is not as it has to be."""


def read_list():
    """The faults, and those that no test can force, each as a dictionary."""
    content = tomllib.loads(LIST.read_text())
    faults, unforced = content["fault"], content.get("unforced", [])
    names = [fault["name"] for fault in faults]
    for name in names:
        if names.count(name) > 1:
            raise Wrong(f"{name}: there are two faults of this name")
    for fault in faults:
        for key in ("model", "breaks", "test"):
            if key not in fault:
                raise Wrong(f"{fault['name']}: {key} is missing")
        if "change" not in fault and "within" not in fault:
            raise Wrong(f"{fault['name']}: it changes nothing")
    check_models(faults + unforced)
    return faults, unforced


def check_models(faults):
    """Each named fault of a model must exist, and each existing fault must be named."""
    known = {f"{model.stem} {name}" for model in (ROOT / "Models").glob("*.pml")
             for name in re.findall(r"\bFAULT_\w+", model.read_text())}
    named = {fault["model"] for fault in faults} - {"-"}
    if unknown := sorted(named - known):
        raise Wrong(f"no such fault in Models: {', '.join(unknown)}")
    if missing := sorted(known - named):
        raise Wrong(f"in Models, but not in {LIST.name}: {', '.join(missing)}")


def flag(name):
    first, *others = name.split("-")
    return first + "".join(word.capitalize() for word in others)


def planted(text, changes, path):
    """`text` with all changes, which are pairs of a fault's name and a change of the list."""
    regions = []
    for name, change in changes:
        count = text.count(change["old"])
        if count != 1:
            raise Wrong(f"{name}: its old code is {count} times in {path}, but must be there once")
        start = text.index(change["old"])
        regions.append((start, start + len(change["old"]), name, change["new"]))
    regions.sort()
    for (_, end, name, _), (start, _, other, _) in zip(regions, regions[1:]):
        if start < end:
            raise Wrong(f"{name} and {other} change the same code in {path}: merge them by `within`")
    for start, end, name, new in reversed(regions):
        guarded = MARKER.sub(lambda match: f"PlantedFault.{flag(match.group(1) or name)}", new)
        text = text[:start] + guarded + text[end:]
    return text


def flags(faults):
    """The file that reads which fault is planted."""
    lines = [f'  static let {flag(fault["name"])} = name == "{fault["name"]}"' for fault in faults]
    return "\n".join([
        "#if canImport(Glibc)", "import Glibc", "#elseif canImport(Musl)", "import Musl", "#else", "import Darwin",
        "#endif", "", "enum PlantedFault {",
        '  private static let name = getenv("HEADWAY_FAULT").map { String(cString: $0) }', *lines, "}", ""])


def manifest():
    """The manifest, with what the tests of the core need and nothing else."""
    text = (ROOT / "Package.swift").read_text()
    text = re.sub(r"  dependencies: \[\n(    \.package.*\n)+  \],\n", "", text)
    text = text.replace(" + traits.flatMap(conditional)", "")
    return re.sub(r"  products: \[\n(    \..*\n)+  \],\n", "", text)


def needed_tests(faults):
    """The files of the suites that the faults name, and those with the types that these files use.

    The other tests take longer to compile than the core.
    """
    texts = {path: path.read_text() for path in (ROOT / TESTS).rglob("*.swift")}
    declarations = re.compile(
        r"^(?!private|fileprivate|extension|//)(?=\S).*?\b(?:class|struct|enum|protocol|func) (\w+)", re.M)
    homes = {}
    for path, text in texts.items():
        for name in declarations.findall(text):
            homes.setdefault(name, set()).add(path)
    for path, text in texts.items():
        for name in re.findall(r"^extension (\w+)", text, re.M):
            if name in homes:
                homes[name].add(path)
    needed = {path for path in texts if path.parent.name == "Support"}
    new = needed | {path for fault in faults for suite in re.findall(r"(\w+Tests)\b", fault["test"])
                    for path in homes.get(suite, ())}
    while new:
        needed |= new
        new = {home for path in new for word in set(re.findall(r"\w+", texts[path])) for home in homes.get(word, ())}
        new -= needed
    return needed


def write(path, text):
    """Writes a file, unless it is the same: what has not changed is not compiled again."""
    if path.exists() and path.read_bytes() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)


def make_copy(faults):
    """Copies the core with all faults in it, and its tests."""
    changes = {}
    for fault in faults:
        for change in fault.get("change", []):
            changes.setdefault(f"{CORE}/{change['file']}", []).append((fault["name"], change))
        markers = [MARKER.findall(change["new"]) for change in fault.get("change", [])]
        if "within" not in fault and not any("" in found for found in markers):
            raise Wrong(f"{fault['name']}: its new code has no FAULT")
    tests = needed_tests(faults)
    files = {"Package.swift": manifest().encode(), FLAGS: flags(faults).encode()}
    for folder in COPIED:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and (folder != TESTS or path in tests):
                files[str(path.relative_to(ROOT))] = path.read_bytes()
    for path, found in changes.items():
        if path not in files:
            raise Wrong(f"{found[0][0]}: there is no {path}")
        files[path] = planted(files[path].decode(), found, path).encode()
    for path in sorted(COPY.rglob("*")):
        if path.is_file() and str(path.relative_to(COPY)) not in files and path.name != "Package.resolved":
            path.unlink()
    for path, text in files.items():
        write(COPY / path, text)


def build():
    """Builds the copy; returns the program that runs its tests."""
    command = ["swift", "build", "--build-tests", "--package-path", COPY, "--scratch-path", SCRATCH / "build", "--quiet"]
    environment = {**os.environ, "HEADWAY_MODULES": "HeadwayTests"}
    # The compiler may warn of code that never runs behind a guard.
    environment.pop("HEADWAY_WARNINGS_AS_ERRORS", None)
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    if result.returncode != 0:
        print(result.stdout, result.stderr, file=sys.stderr)
        raise Wrong("the copy with the faults does not compile")
    return SCRATCH / "build" / "debug" / "HeadwayPackageTests.xctest"


class Run:
    """A run of tests, with a fault or without."""

    def __init__(self, program, tests, fault=None):
        environment = {**os.environ, "SWIFT_BACKTRACE": "enable=no"}
        environment.pop("HEADWAY_FAULT", None)
        if fault:
            environment |= {"HEADWAY_FAULT": fault, "HEADWAY_HANG_SECONDS": HANG_SECONDS}
        filters = [word for test in tests for word in ("--filter", test)]
        start = time.monotonic()
        with subprocess.Popen(
                [program, "--testing-library", "swift-testing", *filters], stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, errors="replace", env=environment, start_new_session=True) as process:
            try:
                self.output, _ = process.communicate(timeout=1_200)
                hangs = False
            except subprocess.TimeoutExpired:
                hangs = True
                os.killpg(process.pid, signal.SIGKILL)
                self.output, _ = process.communicate()
        self.seconds = time.monotonic() - start
        self.count = sum(int(number) for number in re.findall(r"Test run with (\d+) test", self.output))
        if process.returncode == 0:
            self.end = "passes"
        elif "recorded an issue" in self.output:
            self.end = "expectation"
        else:
            self.end = "hang" if hangs or "The watchdog of the tests ends process" in self.output else "crash"


def chosen(faults, arguments):
    """The faults that the arguments name, or this part of all faults."""
    if arguments.part:
        number, count = arguments.part
        return [fault for position, fault in enumerate(faults) if position % count == number % count]
    known = {fault["name"] for fault in faults}
    for name in arguments.names:
        if name not in known:
            raise Wrong(f"there is no fault {name}")
    return [fault for fault in faults if not arguments.names or fault["name"] in arguments.names]


def may_lower_nice_values():
    """Whether this process may, as the tests of threads that are raised need it."""
    code = "import os; os.nice(1); os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) - 1)"
    return subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL).returncode == 0


def part(text):
    match = re.fullmatch(r"(\d+)/([1-9]\d*)", text)
    if not match:
        raise argparse.ArgumentTypeError("use two numbers, as in 3/8")
    return int(match.group(1)), int(match.group(2))


def title(test):
    return test.replace("\\", "").rstrip("(/")


def main():
    parser = argparse.ArgumentParser(prog="script/check-faults", description="Plants faults in the core.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a fault of script/support/faults.toml")
    parser.add_argument("--part", type=part, metavar="K/N", help="every Nth fault, from the one with the number K mod N")
    parser.add_argument("--output", action="store_true", help="print what the tests print")
    arguments = parser.parse_args()
    all_faults, unforced = read_list()
    faults = chosen(all_faults, arguments)
    if not may_lower_nice_values():
        for fault in faults:
            if fault.get("privileged"):
                print(f"Left out, since this process may not lower nice values: {fault['name']}")
        faults = [fault for fault in faults if not fault.get("privileged")]
    start = time.monotonic()
    make_copy(all_faults)
    program = build()
    print(f"The copy with {len(all_faults)} faults is built: {time.monotonic() - start:.0f} s", flush=True)

    without = Run(program, sorted({fault["test"] for fault in faults}))
    if without.end != "passes":
        print(without.output)
        raise Wrong("without a fault, the tests fail")
    print(f"Without a fault, {without.count} tests pass: {without.seconds:.0f} s\n", flush=True)

    widths = [max(len(text) for text in texts) for texts in zip(
        ("fault", "model", "test"), *((fault["name"], fault["model"], title(fault["test"])) for fault in faults))]
    line = f"%-{widths[0]}s  %-{widths[1]}s  %-{widths[2]}s  %-11s %7s"
    print(line % ("fault", "model", "test", "found by", "seconds"))
    missed = []
    for fault in faults:
        run = Run(program, [fault["test"]], fault["name"])
        is_missed = run.end == "passes" or (run.end == "hang") != fault.get("hangs", False)
        if is_missed:
            missed.append(fault["name"])
        if arguments.output:
            print(run.output)
        end = {"passes": "NOT FOUND", "hang": "HANGS"}.get(run.end, run.end) if is_missed else run.end
        print(line % (fault["name"], fault["model"], title(fault["test"]), end, f"{run.seconds:.1f}"), flush=True)
    print()
    for fault in unforced:
        print(f"Not forced ({fault['model']}): {fault['why']}")
    if missed:
        raise Wrong(f"{len(missed)} of {len(faults)} faults were not found: {', '.join(missed)}")
    print(f"All {len(faults)} faults were found, of {len(all_faults)} in the list; {len(unforced)} more can't be forced. "
          f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    try:
        main()
    except Wrong as wrong:
        sys.exit(f"script/check-faults: {wrong}")
