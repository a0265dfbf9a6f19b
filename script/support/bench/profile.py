"""`script/bench profile`: where the instructions of an operation go, counted by `valgrind --tool=callgrind`.

The instructions are those of all threads, by the file and function in which they are after inlining. What starts the
process is left out.
"""

import collections
import re
import subprocess
import tempfile

from . import callgrind, programs

# The three that most of a program's operations take, and the widest graph.
WORKLOADS = ("independent", "subclass", "chain", "fan")
# By the object, the file and the function: the first that fits.
PARTS = (
    (r"/ld-linux", None),
    (r"/libc\S* \S*/malloc/", "allocator of the C library"),
    (r"/libc\S* ", "the rest of the C library"),
    (r"/libswiftCore\S* .*(?:RefCount|[rR]etain|[rR]elease)", "reference counts"),
    (r"/libswiftCore\S* .*(?:[aA]lloc)", "memory of objects and closures"),
    (r"/libswift\S* ", "the rest of Swift's libraries"),
    (r"/Sources/Headway/((?:Kernel/)?\w+)/", r"Headway/\1"),
    (r"/Benchmarks/Sources/", "the benchmark"),
    (r"", "compiled code without a line"),
)


def add_command(commands):
    command = commands.add_parser(
        "profile", help="where the instructions of an operation go", description=__doc__,
    )
    command.add_argument("--workload", action="append", help="of one of these, instead of four")
    command.add_argument("--operations", type=int, default=100_000)
    command.add_argument("--functions", type=int, default=8, help="how many functions are listed")
    command.set_defaults(run=bench_profile)


def bench_profile(arguments):
    program = programs.build_swift()
    for workload in arguments.workload or WORKLOADS:
        parts, functions = count(program, workload, arguments.operations)
        total = parts.total()
        print(f"\n`{workload}`: {total / arguments.operations:,.0f} instructions per operation\n")
        print("| part | % |\n|---|---|")
        for part, cost in parts.most_common():
            if cost >= total / 100:
                print(f"| {part} | {100 * cost / total:.1f} |")
        print("\n| function | % |\n|---|---|")
        for function, cost in functions.most_common(arguments.functions):
            print(f"| `{readable(function)}` | {100 * cost / total:.1f} |")


def count(program, workload, operations):
    """Instructions by part, and by function."""
    parts, functions = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for path in callgrind.profile(program, workload, operations, folder):
            for library, file, function, cost in costs(path):
                part = part_of(f"{library} {file} {function}")
                if part:
                    parts[part] += cost
                    functions[function] += cost
    return parts, functions


def costs(path):
    """The cost of a thread by object, file, and function, without the functions that each function calls."""
    library = file = function = ""
    is_call = False
    sums = collections.Counter()
    with open(path) as lines:
        for line in lines:
            name, equals, value = line.strip().partition("=")
            if name == "ob":
                library = value
            elif name in ("fl", "fi", "fe"):
                file = value
            elif name == "fn":
                function = value
            elif name == "calls":
                is_call = True
            elif not equals and line.startswith("0x"):
                # The line after a call's line contains the called function.
                if not is_call:
                    sums[library, file, function] += int(line.split()[-1])
                is_call = False
    return [(*place, cost) for place, cost in sums.items()]


def part_of(place):
    for pattern, part in PARTS:
        if found := re.search(pattern, place):
            return part and found.expand(part)
    return None


def readable(function):
    """A name as it is in the source; for a closure, the name of the function around it."""
    if not function.startswith("$s"):
        return function[:80]
    command = ["swift", "demangle", "--simplified", "--compact", function]
    name = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return re.sub(r"^.* in (?=\w)", "", name)
