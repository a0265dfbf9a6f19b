"""`script/bench against COMMIT`: the scheduler at this commit and at another one, in turn.

Both programs are built for release, and each pair of processes measures the same workload, one after the other. The
ratio is taken pair by pair, so changes of the machine's speed affect it little. Ratios below 1 mean that this
commit is faster. Workloads that one of the programs does not have are skipped.
"""

import os
import statistics
import subprocess
import sys

from . import measuring, plan, programs
from .paths import ROOT, WORKSHOP

# The workloads whose figure is a time per operation.
DEFAULT = ("independent", "chain", "grid", "one-at-a-time", "in-order", "many-queues", "subclass", "asynchronous", "name",
           "completion-block", "task", "suspending-task", "map", "fan", "pipeline", "cancellation", "events-observed",
           "key-path-observed", "progress-observed", "graph-again-grid", "thousand-keys")


def add_command(commands):
    command = commands.add_parser("against", help="this commit and another one, in turn", description=__doc__)
    command.add_argument("commit", metavar="COMMIT")
    command.add_argument("--pairs", type=int, default=9, help="(default: 9)")
    command.add_argument("--workload", action="append", metavar="NAME",
                         help="only this one; may be given several times (default: " + ", ".join(DEFAULT) + ")")
    command.set_defaults(run=bench_against)


def bench_against(arguments):
    built = [programs.build_swift(), build_other(arguments.commit)]
    cases = {case.workload: case for case in plan.quick() if case.rival == "headway"}
    wanted = arguments.workload or DEFAULT
    for workload in wanted:
        if workload not in cases:
            sys.exit(f"script/bench: there is no workload {workload}: use {', '.join(cases)}")
    print(f"| workload | now | {arguments.commit} | ratio | fastest – slowest pair |")
    print("|---|---|---|---|---|")
    for workload in wanted:
        pairs, failure = measure(built, cases[workload], arguments.pairs)
        if failure:
            print(f"script/bench: {workload} {failure}", file=sys.stderr)
            continue
        ratios = [now / before for now, before in pairs]
        now, before = (statistics.median(column) for column in zip(*pairs))
        print(f"| {workload} | {now:.0f} | {before:.0f} | {statistics.median(ratios):.2f} | "
              f"{min(ratios):.2f} – {max(ratios):.2f} |", flush=True)


def measure(built, case, count):
    """Returns the figures of each pair; or the reason why one of the programs has none."""
    pairs = []
    for number in range(count + 1):
        pair = []
        # Each program is the first one in every other pair, because the second one can be slower.
        for program in built if number % 2 == 0 else built[::-1]:
            report, failure = measuring.run([program, "{workload}", "headway"], case, limit=60, repeating=0.3)
            if failure:
                return None, failure
            pair.append(statistics.median(report["samples"]))
        # The first pair warms up.
        if number > 0:
            pairs.append(pair if number % 2 == 0 else pair[::-1])
    return pairs, None


def build_other(commit):
    """Builds the program of another commit and returns its path."""
    name = subprocess.run(["git", "-C", ROOT, "rev-parse", "--verify", f"{commit}^{{commit}}"], capture_output=True,
                          text=True)
    if name.returncode != 0:
        sys.exit(f"script/bench: there is no commit {commit}")
    folder = f"{WORKSHOP}/against/{name.stdout.strip()}"
    if not os.path.exists(folder):
        subprocess.run(["git", "clone", "--quiet", "--shared", "--no-checkout", ROOT, folder], check=True)
    subprocess.run(["git", "-C", folder, "checkout", "--quiet", "--detach", name.stdout.strip()], check=True)
    return programs.build_swift(root=folder)
