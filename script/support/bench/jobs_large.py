"""`script/bench jobs --mode large`: a worker that serves many queues, a large graph, and many due schedules. Only for
Headway."""

import json
import subprocess

from . import tables
from .budgets import Verdict

QUEUES = 1_000
GRAPH = 100_000
SCHEDULES = 60_000
# How a worker serves many queues.
SERVING = {"names": "each by its name, on its own operation queue", "pattern": "by a pattern, on one operation queue"}
# Whose jobs the worker begins.
PRODUCERS = {"same": "of the same process", "other": "of another process"}


def measure(results, queue, is_quick):
    """The reports: by way of serving, and of the graph and the schedules."""
    def report(mode, *arguments):
        command = [*queue.command, mode, "--store", results.fresh_store(), *map(str, arguments)]
        before = results.server.counters()[0] if results.server else None
        done = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=600).stdout)
        if before is not None:
            done["serverProcessorSeconds"] = results.server.counters()[0] - before
        return done

    seconds, jobs = (5, 30) if is_quick else (20, 200)
    results.large = {
        "queues": {way: report("queues", "--queues", QUEUES, "--serving", way, "--seconds", seconds, "--jobs", jobs)
                   for way in SERVING},
        "graph": report("graph", "--jobs", GRAPH),
        "schedules": report("schedules", "--jobs", SCHEDULES),
    }


def judge(results):
    verdicts = []
    for way, title in SERVING.items():
        report = results.large["queues"][way]
        percent = report["processorPercent"]
        verdicts.append(Verdict(f"an idle worker with {QUEUES:,} queues, {title}", f"{percent:.2f}% of a processor",
                                "≤ 1%", percent <= 1))
        for producer, whose in PRODUCERS.items():
            median, late = (report[f"{producer}Process{key}Milliseconds"] for key in ("Median", "Percentile99"))
            verdicts.append(Verdict(f"the same begins a job {whose}, median and 99th percentile",
                                    f"{median:.1f} and {late:.1f} ms", "99th ≤ 50 ms", late <= 50))
    graph, schedules = results.large["graph"]["seconds"], results.large["schedules"]
    verdicts.append(Verdict(f"a graph of {GRAPH:,} jobs stored", f"{graph:.1f} s", "≤ 10 s", graph <= 10))
    verdicts.append(Verdict(
        f"{SCHEDULES:,} due schedules, the jobs added by a worker with a running job",
        f"{schedules['seconds']:.1f} s, {schedules['lostLeases']} leases lost", "≤ 10 s, none",
        schedules["seconds"] <= 10 and schedules["lostLeases"] == 0))
    return verdicts


def table(results):
    server = " + server" if results.server else ""
    lines = ["Large numbers:\n", f"| work | seconds | processor s of Headway{server} | per second |", "|---" * 4 + "|"]
    for mode, title in (("graph", "jobs of a graph stored"), ("schedules", "schedules ticked")):
        report = results.large[mode]
        count = report.get("jobs", report.get("schedules"))
        # The server has also stored the schedules.
        used = f" + {report['serverProcessorSeconds']:.1f}" if results.server and mode == "graph" else ""
        lines.append(f"| {count:,} {title} | {report['seconds']:.2f} | {report['processorSeconds']:.1f}{used} "
                     f"| {tables.number(count / report['seconds'])} |")
    return "\n".join(lines)
