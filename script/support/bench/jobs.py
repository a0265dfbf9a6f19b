"""`script/bench jobs`: durable jobs in SQLite next to huey, litequeue, persist-queue and dbos, installed from PyPI. With
`--postgres`, jobs in PostgreSQL next to pgqueuer, procrastinate and dbos, on one server.

All sync each commit, and do the same work: `Benchmarks/Jobs/harness.py` describes it. Each measurement is a separate
process with a new file on the disk of the repository. It warms up: `through` for 5 s, and the others, which follow it,
for up to 1 s. The rate of the warm-up determines the number of jobs. The queues run in turn, and the medians of the
rounds count. At the start of each round and immediately before each `single`, a probe measures how many times per
second this disk syncs. At the end, `strace` counts the syncs of a short run. Headway's program then runs alone: next to
few and many waiting jobs in turn, with nothing to do, with 1,000 queues, and with a large graph and many schedules. On
PostgreSQL, it also measures how long an idle worker of another process takes to begin a job, and what the server uses
per job: processor time (after a plus sign), and syncs and bytes of its log. With `--mode snapshot`, which takes eleven
minutes, 500 jobs per second run while another client holds a snapshot open, so that no dead row can be removed.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import time

from . import budgets, jobs_large, jobs_rivals, jobs_server, tables
from .budgets import Verdict
from .paths import RESULTS, ROOT

# The jobs at most, the seconds of warm-up, the seconds of measuring, and the jobs under strace.
MODES = {
    "through": (100_000, 5, 2.5, 320),
    "drain": (100_000, 1, 2, 320),
    "single": (100_000, 0.5, 1, 320),
    "batch": (1_000_000, 0.5, 1, 10_000),
}
TITLES = {
    "through": "enqueued, run and finished; 64 producers, each waits until its job is durable",
    "drain": "jobs that were enqueued before, run and finished",
    "single": "enqueued by one producer that waits until each job is durable",
    "batch": "enqueued in batches of 1,000",
}
PRODUCERS = 64
# The numbers of waiting jobs, and the jobs that run next to them.
WAITING = (10_000, 1_000_000)
RUNNING = 10_000
# How long a snapshot is held open.
SNAPSHOT_SECONDS = 600


def add_command(commands):
    command = commands.add_parser("jobs", help="durable jobs in SQLite next to others", description=__doc__)
    command.add_argument("--postgres", action="store_true", help="in PostgreSQL instead of SQLite")
    command.add_argument("--rounds", type=int, default=5, help="at most so many (default: 5)")
    command.add_argument("--seconds", type=float, default=520,
                         help="begins no round that would end later (default: 520)")
    command.add_argument("--quick", action="store_true", help="short warm-ups and measurements, one round")
    command.add_argument("--mode", action="append", choices=[*MODES, "alone", "large", "snapshot"],
                         help="only this one; can be repeated; alone: only Headway, next to waiting jobs, and idle; "
                              "large: only Headway, with many queues, a large graph, and many schedules; "
                              "snapshot: only Headway on PostgreSQL, while another client holds a snapshot")
    command.add_argument("--rival", action="append", metavar="NAME", help="only this one and Headway; can be repeated")
    command.set_defaults(run=bench_jobs)


class Results:
    """The reports, by mode and queue, and the syncs per second."""

    def __init__(self, server):
        self.server = server
        self.reports = {}
        self.failures = {}
        self.probes = []
        self.traces = {}
        # The microseconds of the server's processors per job, by mode and queue.
        self.server_processor = {}
        self.beside = {}
        self.idle = None
        self.latency = None
        # Of the mode `large`.
        self.large = None
        # At a constant rate, without and with a snapshot that is held open.
        self.steady = []

    def fresh_store(self):
        return self.server.fresh_store() if self.server else jobs_rivals.fresh_store()

    def median(self, mode, name, figure="jobsPerSecond"):
        values = [report[figure] for report in self.reports.get((mode, name), [])]
        return statistics.median(values) if values else None

    @property
    def probe(self):
        return statistics.median(self.probes)

    def by_probe(self, mode, name):
        """The ratio to the syncs per second, of the same moment if they were measured then."""
        return statistics.median(report["jobsPerSecond"] / report.get("syncsPerSecond", self.probe)
                                 for report in self.reports[mode, name])


def bench_jobs(arguments):
    server = jobs_server.Server() if arguments.postgres else None
    try:
        bench_jobs_with(server, arguments)
    finally:
        if server:
            server.stop()


def bench_jobs_with(server, arguments):
    subprocess.run([f"{ROOT}/script/setup", "bench"])  # Only for strace, which may be missing.
    machine, start = tables.machine(), time.monotonic()
    queues = jobs_rivals.queues(is_on_server=server is not None)
    wanted = ["headway", *arguments.rival] if arguments.rival else list(queues)
    for name in wanted:
        if not queues[name].command:
            print(f"script/bench jobs: {queues[name].name} is missing", file=sys.stderr)
    wanted = [name for name in wanted if queues[name].command]
    modes = [mode for mode in arguments.mode or MODES if mode in MODES]
    results = run_rounds({name: queues[name] for name in wanted}, modes, arguments, server)
    for mode in modes:
        for name in wanted:
            if (mode, name) in results.reports and not server:
                count = MODES[mode][3]
                found = jobs_rivals.trace([*queues[name].command, mode, *options(count)])
                results.traces[mode, name] = found and [value / count for value in found]
    if server and "through" in modes:
        for name in wanted:
            measure_server(results, name, queues[name], arguments.quick)
    if not arguments.mode or "alone" in arguments.mode:
        measure_alone(results, queues["headway"], arguments.quick)
    if not arguments.mode or "large" in arguments.mode:
        jobs_large.measure(results, queues["headway"], arguments.quick)
    if server and "snapshot" in (arguments.mode or []):
        measure_snapshot(results, queues["headway"], 20 if arguments.quick else SNAPSHOT_SECONDS)
    verdicts = judge(results)
    text = "\n\n".join([
        f"Measured with `script/bench jobs{' --postgres' if server else ''}`; {machine}; files on {file_system()}; {time.monotonic() - start:.0f} s. "
        f"The disk syncs {results.probe:,.0f} times per second "
        f"({min(results.probes):,.0f} – {max(results.probes):,.0f}): 4 KB appended, then `fdatasync`, by one thread.",
        *([] if queues["headway"].command else ["**Headway is missing**: there is no program `JobsBenchmark` yet."]),
        "## Budgets", tables.budgets(verdicts), "## Durable jobs", *[table(results, queues, mode) for mode in modes],
        *([alone_table(results)] if results.beside else []),
        *([jobs_large.table(results)] if results.large else []),
        *([snapshot_table(results)] if results.steady else [])])
    print(text)
    write(text, results, verdicts, machine)


def options(jobs):
    return ["--jobs", str(jobs), "--producers", str(PRODUCERS)]


def run_rounds(queues, modes, arguments, server):
    """All modes of a queue, then those of the next, in each round."""
    results, start = Results(server), time.monotonic()
    for turn in range(1 if arguments.quick else arguments.rounds):
        begun = time.monotonic()
        results.probes.append(probe(2))
        for name, queue in queues.items():
            for mode in modes:
                if (mode, name) not in results.failures:
                    measure(results, name, queue, mode, arguments.quick)
        now = time.monotonic()
        if now - start + (now - begun) > arguments.seconds:
            break
    return results


def measure_alone(results, queue, is_quick):
    """Headway's own figures: the cost of waiting jobs, in turn, and of a worker with nothing to do."""
    def report(mode, *arguments):
        command = [*queue.command, mode, "--store", results.fresh_store(), *map(str, arguments)]
        return json.loads(subprocess.run(command, check=True, capture_output=True, timeout=300).stdout)

    for _ in range(1 if is_quick else 3):
        for count in WAITING:
            results.beside.setdefault(count, []).append(report("waiting", "--jobs", RUNNING, "--waiting", count))
    results.idle = report("idle", "--seconds", 5 if is_quick else 20)
    if results.server:
        results.latency = report("latency", "--jobs", 50 if is_quick else 300)


def measure_server(results, name, queue, is_quick):
    """The use of the server per job, in a run of a few seconds without a warm-up."""
    rate = results.median("through", name)
    if not rate:
        return
    count = PRODUCERS * math.ceil(rate * (1 if is_quick else 5) / PRODUCERS)
    store, before = results.server.fresh_store(), results.server.counters()
    subprocess.run([*queue.command, "through", "--store", store, *options(count), "--warm-up", "0"], check=True,
                   capture_output=True, timeout=120)
    used = [(after - before) / count for before, after in zip(before, results.server.counters())]
    results.server_processor["through", name] = used[0] * 1e6
    results.traces["through", name] = used[1:]


def measure_snapshot(results, queue, seconds):
    for held in (False, True):
        store = results.fresh_store()
        command = [*queue.command, "steady", "--store", store, "--seconds", str(seconds if held else seconds / 10)]
        holder = None
        if held:
            holder = subprocess.Popen(
                ["psql", "-X", "-q", "-d", store, "-c", "BEGIN ISOLATION LEVEL REPEATABLE READ", "-c", "SELECT 1",
                 "-c", f"SELECT pg_sleep({seconds * 2})"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            done = subprocess.run(command, check=True, capture_output=True)
        finally:
            if holder:
                holder.kill()
        results.steady.append(json.loads(done.stdout))


def snapshot_table(results):
    lines = ["500 jobs per second, without and with a snapshot that another client holds open:\n",
             "| snapshot | jobs | 99th percentile of waiting in the first and last tenth, ms | jobs that wait at the end |",
             "|---" * 4 + "|"]
    for title, report in zip(("none", "held open"), results.steady):
        first, last = (report[f"{part}TenthPercentile99Milliseconds"] for part in ("first", "last"))
        lines.append(f"| {title} | {report['jobs']:,} | {first:.1f}; {last:.1f} | {report['backlog']:,} |")
    return "\n".join(lines)


def judge_snapshot(results):
    without, held = (report["lastTenthPercentile99Milliseconds"] for report in results.steady)
    return Verdict("500 jobs/s next to a snapshot that is held open for 10 min, 99th percentile of waiting, against none",
                   f"{held / without:.2f} ×, {results.steady[1]['backlog']:,} jobs wait at the end", "≤ 2 ×, < 50",
                   held <= 2 * without and results.steady[1]["backlog"] < 50)


def alone_table(results):
    lines = [f"{RUNNING:,} jobs run while others wait, and a worker with nothing to do:\n",
             "| waiting | jobs/s | spread | resident memory before and after, MB |", "|---" * 4 + "|"]
    for count, reports in results.beside.items():
        rates = [report["jobsPerSecond"] for report in reports]
        before, after = (statistics.median(report[key] for report in reports)
                         for key in ("residentMegabytesBefore", "residentMegabytes"))
        lines.append(f"| {count:,} | {tables.number(statistics.median(rates))} "
                     f"| {tables.number(min(rates))} – {tables.number(max(rates))} | {before:.0f}; {after:.0f} |")
    idle = results.idle
    if results.latency:
        lines.append(f"\nAn idle worker begins a job of another process after {results.latency['medianMilliseconds']:.1f} "
                     f"ms (median) and {results.latency['percentile99Milliseconds']:.1f} ms (99th percentile).")
    return "\n".join(lines) + (f"\n\nIdle for {idle['seconds']:.0f} s: {idle['processorPercent']:.3f}% of a processor, "
                               f"{idle['writtenBytes']:,} bytes written.")


def probe(seconds):
    """How many times per second the disk syncs."""
    command = [sys.executable, f"{jobs_rivals.SOURCES}/probe.py", jobs_rivals.fresh_store(), str(seconds)]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["syncsPerSecond"]


def measure(results, name, queue, mode, is_quick):
    jobs, warm_up, seconds, _ = MODES[mode]
    if (name, mode) == ("headway", "drain") and not results.server:
        # Its budget is for all of them.
        seconds = 60
    if is_quick:
        warm_up, seconds = 0.5, 1
    command = [*queue.command, mode, "--store", results.fresh_store(), *options(jobs),
               "--warm-up", str(warm_up), "--seconds", str(seconds)]
    if sys.stderr.isatty():
        print(f"\r\033[K{name} {mode}", end="\r", file=sys.stderr, flush=True)
    syncs = {"syncsPerSecond": probe(1)} if mode == "single" else {}
    results.probes += syncs.values()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        results.failures[mode, name] = "did not end in 120 s"
        return
    if done.returncode != 0:
        last_line = (done.stderr.strip().splitlines() or [""])[-1]
        results.failures[mode, name] = f"ended with status {done.returncode}: {last_line[:200]}"
        return
    report = json.loads(done.stdout)
    if "absent" in report:
        results.failures[mode, name] = report["absent"]
    elif report["synchronous"] not in ("FULL", "EXTRA"):
        results.failures[mode, name] = f"does not sync: `synchronous` is {report['synchronous']}"
    else:
        results.reports.setdefault((mode, name), []).append({**report, **syncs})


def judge(results):
    """The budgets of Headway."""
    def at_least(work, ours, least, unit):
        needed = f"≥ {least:,} {unit}"
        if not ours:
            return budgets.missing(work, needed)
        return Verdict(work, f"{tables.number(ours)} {unit}", needed, ours >= least)

    if results.server:
        return judge_server(results, at_least)
    rivals = {name: results.median("through", name) for mode, name in results.reports
              if mode == "through" and name != "headway"}
    best = max(rivals, key=rivals.get, default=None)
    ours = results.median("through", "headway")
    single = results.by_probe("single", "headway") if ("single", "headway") in results.reports else None
    return [
        at_least("enqueued, run and finished, 64 producers", ours, 5_000, "jobs/s"),
        # One sync for several jobs saves more if it takes longer.
        at_least(f"the same, against the best rival ({best or 'none was measured'})",
                 ours and best and ours / rivals[best], 3 if results.probe > 1_000 else 10, "×"),
        at_least("100,000 jobs drained", results.median("drain", "headway"), 15_000, "jobs/s"),
        at_least("one producer that waits for each, against the probe", single, 0.9, "×"),
        at_least("batches of 1,000", results.median("batch", "headway"), 100_000, "jobs/s"),
        *([judge_waiting(results), judge_idle(results)] if results.beside else []),
        *(jobs_large.judge(results) if results.large else []),
    ]


def judge_server(results, at_least):
    """The budgets on PostgreSQL: against the best run of each rival."""
    verdicts = []
    for rival, least in (("pgqueuer", 2), ("dbos", 2), ("procrastinate", 8)):
        for mode, title in (("through", "enqueued, run and finished, 64 producers"), ("drain", "jobs drained")):
            if not any(kind == mode for kind, _ in results.reports):
                continue
            ours = results.median(mode, "headway")
            theirs = [results.median(mode, name) for kind, name in results.reports
                      if kind == mode and name.startswith(rival)]
            verdicts.append(at_least(f"{title}, against {rival}", ours and theirs and ours / max(theirs), least, "×"))
    if results.beside:
        verdicts.append(judge_waiting(results))
    if results.large:
        verdicts += jobs_large.judge(results)
    if results.steady:
        verdicts.append(judge_snapshot(results))
    if results.latency:
        median, late = (results.latency[key] for key in ("medianMilliseconds", "percentile99Milliseconds"))
        verdicts.append(Verdict("an idle worker begins a job of another process, median and 99th percentile",
                                f"{median:.1f} and {late:.1f} ms", "≤ 10 and 30 ms", median <= 10 and late <= 30))
    return verdicts


def judge_waiting(results):
    few, many = (statistics.median(report["seconds"] for report in results.beside[count]) for count in WAITING)
    return Verdict(f"jobs next to {WAITING[1]:,} waiting ones, against {WAITING[0]:,}", f"{many / few:.2f} ×", "≤ 1.2 ×",
                   many / few <= 1.2)


def judge_idle(results):
    percent, written = results.idle["processorPercent"], results.idle["writtenBytes"]
    return Verdict("a worker with nothing to do", f"{percent:.3f}% of a processor, {written:,} bytes written",
                   "< 0.1%, none", percent < 0.1 and written == 0)


def table(results, queues, mode):
    """One row per queue, with the ratios of Headway to the queue, and of the queue to the probe."""
    lines = [f"{TITLES[mode][0].upper()}{TITLES[mode][1:]}:\n",
             "| queue | jobs/s | spread | Headway is × | × probe | jobs | processor µs per job | syncs per job "
             "| log bytes per job | promise: what it does not do |", "|---" * 10 + "|"]
    ours = results.median(mode, "headway")
    for name, queue in queues.items():
        reports = results.reports.get((mode, name))
        if not reports:
            if reason := results.failures.get((mode, name)):
                lines.append(f"| {queue.name} | – | {reason} | | | | | | | {queue.promise} |")
            elif not queue.command:
                lines.append(f"| {queue.name} | – | missing | | | | | | | {queue.promise} |")
            continue
        rate, rates = results.median(mode, name), [report["jobsPerSecond"] for report in reports]
        processor = statistics.median(report["processorSeconds"] / report["jobs"] for report in reports) * 1e6
        server = results.server_processor.get((mode, name))
        trace = results.traces.get((mode, name))
        cells = [
            f"{queue.name} {reports[0]['version']}", tables.number(rate),
            f"{tables.number(min(rates))} – {tables.number(max(rates))}" if len(rates) > 1 else "–",
            f"{ours / rate:.2f}" if ours and name != "headway" else "–", f"{results.by_probe(mode, name):.2f}",
            f"{results.median(mode, name, 'jobs'):,.0f}",
            tables.number(processor) + (f" + {tables.number(server)}" if server else ""),
            *([f"{trace[0]:.3g}", f"{trace[1]:,.0f}"] if trace else ["–", "–"]), queue.promise]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def file_system():
    shown = subprocess.run(["stat", "-f", "-c", "%T", jobs_rivals.STORES], capture_output=True, text=True)
    return shown.stdout.strip() or "an unknown file system"


def write(text, results, verdicts, machine):
    os.makedirs(RESULTS, exist_ok=True)
    name = "jobs-postgres" if results.server else "jobs"
    if results.steady:
        name += "-snapshot"
    with open(f"{RESULTS}/{name}.md", "w") as file:
        file.write(text + "\n")
    keys = sorted({*results.reports, *results.failures})
    measured = [{
        "mode": mode, "rival": name, "median": results.median(mode, name),
        "runs": results.reports.get((mode, name), []),
        "failure": results.failures.get((mode, name)), "syncsAndLogBytesPerJob": results.traces.get((mode, name)),
        "serverMicrosecondsPerJob": results.server_processor.get((mode, name)),
    } for mode, name in keys]
    with open(f"{RESULTS}/{name}.json", "w") as file:
        json.dump({"machine": machine, "fileSystem": file_system(), "syncsPerSecond": results.probes,
                   "budgets": [vars(one) for one in verdicts], "measured": measured,
                   "besideWaiting": results.beside, "idle": results.idle, "latency": results.latency,
                   "large": results.large, "steady": results.steady},
                  file, indent=1, ensure_ascii=False)
    print("\nWritten: " + ", ".join(os.path.relpath(f"{RESULTS}/{name}.{ending}", ROOT) for ending in ("json", "md")))
