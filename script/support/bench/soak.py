"""`script/bench soak`: one queue in steady state, with at most 20,000 operations waiting. Does memory grow?"""

import json
import os
import statistics
import sys

from . import measuring, plots, programs
from .paths import RESULTS, ROOT
from .plan import Case


def add_command(commands):
    command = commands.add_parser("soak", help="one queue in steady state: does memory grow?", description=__doc__)
    command.add_argument("--operations", type=int, default=100_000_000)
    command.add_argument("--seconds", type=float, default=600, help="ends after so many in any case (default: 600)")
    command.set_defaults(run=bench_soak)


def bench_soak(arguments):
    swift = programs.build_swift()
    case = Case("soak", "headway", arguments.operations)
    program = [swift, "{workload}", "headway"]
    report, failure = measuring.run(program, case, arguments.seconds + 60, repeating=arguments.seconds)
    if failure:
        sys.exit(f"script/bench: the soak {failure}")
    series, done = report["series"], report["figures"]["operations"]
    print(f"\n{done:,.0f} operations in {series[-1][0]:.0f} s, {report['samples'][0]:.0f} ns each\n")
    print("| part of the run | resident MB | allocated MB |\n|---|---|---|")
    parts = [series[len(series) * tenth // 10:len(series) * (tenth + 1) // 10] for tenth in (1, 5, 9)]
    if not all(parts):
        sys.exit("script/bench: the run is too short to determine whether memory grows")
    resident = [statistics.median(row[2] for row in part) / 1e6 for part in parts]
    allocated = [statistics.median(row[3] for row in part) / 1e6 for part in parts]
    for name, *values in zip(("second tenth", "middle", "last tenth"), resident, allocated):
        print(f"| {name} | {values[0]:.1f} | {values[1]:.1f} |")
    # The size of a heap varies; a leak would be many times this.
    print("\nMemory grows." if resident[2] > resident[0] * 1.1 + 2 else "\nMemory does not grow.")
    os.makedirs(RESULTS, exist_ok=True)
    with open(f"{RESULTS}/soak.json", "w") as file:
        json.dump(report, file, indent=1)
    paths = [f"{RESULTS}/soak.json", plots.draw_soak(series)]
    print("\nWritten: " + ", ".join(os.path.relpath(path, ROOT) for path in paths if path))
