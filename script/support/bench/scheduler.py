"""`script/bench` and `script/bench quick`: the scheduler next to its rivals, and against its budgets.

Each measuring is a process of its own: release build, a body that adds to an atomic number, the same counts for all. It
warms up with a tenth of the work, and times from making the first operation to the end of the last, with the freeing of
what was made. All workloads are run round by round; the median of the rounds counts, and the spread is from the least
to the most. oneTBB (Debian's libtbb-dev) and Taskflow (its headers in CPLUS_INCLUDE_PATH) take part where they are there.
"""

import json
import os
import time

from . import budgets, measuring, plan, plots, programs, tables
from .paths import RESULTS, ROOT


def add_command(commands):
    for name, text, rounds, seconds, limit, repeating in (
        ("full", "every workload in under twelve minutes; what runs without a command", 5, 600, 40, 1),
        ("quick", "every workload with small sizes in under three minutes", 3, 120, 8, 0.2),
    ):
        command = commands.add_parser(name, help=text, description=__doc__)
        command.add_argument("--rounds", type=int, default=rounds, help=f"at most so many (default: {rounds})")
        command.add_argument("--seconds", type=float, default=seconds,
                             help=f"begins nothing after these (default: {seconds})")
        command.add_argument("--workload", action="append", metavar="NAME", choices=list(tables.WORKLOADS),
                             help="only this one; may be given several times: " + ", ".join(tables.WORKLOADS))
        command.set_defaults(run=bench_scheduler, size=name, limit=limit, repeating=repeating)


def bench_scheduler(arguments):
    wanted = arguments.workload or tables.WORKLOADS
    cases = [case for case in plan.PLANS[arguments.size]() if case.workload in wanted]
    built = programs.build()
    machine, start = tables.machine(), time.monotonic()
    results = measuring.run_rounds(built, cases, arguments.rounds, arguments.seconds, arguments.limit,
                                   arguments.repeating)
    verdicts = budgets.judge(results)
    text = "\n\n".join([
        f"Measured with `script/bench {arguments.size}`; {machine}; {time.monotonic() - start:.0f} s.",
        "## Budgets", tables.budgets(verdicts),
        "## Headway next to its rivals", tables.rivals(results),
        "## Other figures", tables.other_figures(results),
    ])
    print(text)
    os.makedirs(RESULTS, exist_ok=True)
    with open(f"{RESULTS}/latest.md", "w") as file:
        file.write(text + "\n")
    with open(f"{RESULTS}/latest.json", "w") as file:
        json.dump({"size": arguments.size, "machine": machine, "budgets": [vars(one) for one in verdicts],
                   **results.as_json()}, file, indent=1, ensure_ascii=False)
    paths = [f"{RESULTS}/latest.json", f"{RESULTS}/latest.md", *plots.draw(results)]
    print("\nWritten: " + ", ".join(os.path.relpath(path, ROOT) for path in paths))
