"""Prints what was measured as tables in Markdown."""

import os
import statistics

NAMES = {
    "headway": "Headway", "foundation": "Foundation", "dispatch": "Dispatch", "tasks": "Swift tasks",
    "detached-tasks": "detached tasks", "pool": "thread pool", "onetbb": "oneTBB", "taskflow": "Taskflow",
}

# The meaning of each figure, and whether a ratio to Headway's is meaningful.
WORKLOADS = {
    "independent": "independent, ns each",
    "chain": "chain of dependencies, ns each",
    "grid": "grid, three dependencies each, ns each",
    "deep-graph": "deep random graph, ns each",
    "wide-graph": "wide random graph, ns each",
    "graph-chain": "OperationGraph, build and run: chain, ns each",
    "graph-grid": "the same: grid",
    "graph-random": "the same: random",
    "graph-again-chain": "OperationGraph, run again: chain, ns each",
    "graph-again-grid": "the same: grid",
    "graph-again-random": "the same: random",
    "mix": "1–100 µs with random dependencies, × ideal",
    "one-operation": "one: add → done → wake, ns",
    "one-after-rest": "the same after 1 ms of rest, ns",
    "sleepers": "each sleeps 0.5 s, s in all",
    "processor-bound": "each burns 0.25 s, × ideal",
    "waiting-memory": "a waiting operation, bytes",
    "dependent-memory": "the same with one dependency, bytes",
    "growth": "fill a suspended queue and let it run, ns each",
    "beside-waiting": "add and run while so many wait, ns each",
    "one-at-a-time": "one at a time, ns each",
    "in-order": "one at a time, in insertion order, ns each",
    "pipeline": "pipeline of three queues, ns per item",
    "cancellation": "cancel all waiting, ns each",
    "many-queues": "1,000 queues, ns each",
    "hold-up": "one in another queue waits, ms",
    "interactive-latency": "interactive while background burns, × idle",
    "fairness": "two busy queues, slower : faster",
    "subclass": "a subclass with main(), ns each",
    "asynchronous": "an asynchronous one that finishes in main(), ns each",
    "name": "with a name, ns each",
    "completion-block": "with a completion block, ns each",
    "task": "an asynchronous function that does not suspend, ns each",
    "suspending-task": "one that suspends once, ns each",
    "stream": "items through three stages of asynchronous functions, ns each",
    "blocking-calls": "one that does nothing next to functions that block for 10 ms, ms",
    "map": "one called with each number, 64 calls under way, ns each",
    "fan": "one, many that wait for it, one that waits for all, ns each",
    "key-path-observed": "a key path observed on each, × without",
    "events-observed": "events listened to, × without",
    "progress-observed": "progress tracked, × without",
    "subclass-memory": "a waiting subclass with one dependency, bytes",
    "arrivals": "one each 150 µs, µs of processor time each",
    "trace-empty": "recorded in a trace, no work, processor time × without",
    "trace-10us": "the same with 10 µs of work, × without",
    "trace-off": "the check for a trace that is off, ns each",
    "snapshot-delay": "longest read of a count during a snapshot, ms",
    "exclusive-name": "a name used exclusively, all different, × without",
    "thousand-names": "the same with 1,000 names, × without",
    "thousand-keys": "1,000 keys, × without",
    "rate-limited": "10,000 starts per second: share within 1 ms",
    "delay-memory": "a pending delay, bytes more than without",
    "delays": "a delay set and removed, ns each more than without",
}


def machine():
    processors = len(os.sched_getaffinity(0))
    return f"{processors} processors; load before: {os.getloadavg()[0]:.1f}"


def budgets(verdicts):
    lines = ["| budget | measured | needed | |", "|---|---|---|---|"]
    words = {True: "met", False: "**missed**", None: "–"}
    lines += [f"| {one.work} | {one.measured} | {one.needed} | {words[one.met]} |" for one in verdicts]
    return "\n".join(lines)


def rivals(results):
    """A row a workload, size and rival."""
    lines = ["| work | operations | rival | median | spread | runs | × Headway |", "|---|---|---|---|---|---|---|"]
    for workload, title in WORKLOADS.items():
        keys = {*results.reports, *results.failures}
        rows = {(count, list(NAMES).index(rival), rival) for name, rival, count in keys if name == workload}
        for count, _, rival in sorted(rows):
            lines.append(row(results, workload, title, rival, count))
            title = ""
    if results.left_out:
        lines.append("\nLeft out for want of time: " + "; ".join(" ".join(map(str, key)) for key in results.left_out))
    return "\n".join(lines)


def row(results, workload, title, rival, count):
    start = f"| {title} | {count:,} | {NAMES[rival]} |"
    samples = results.samples(workload, rival, count)
    if not samples:
        return f"{start} failed: {results.failures[workload, rival, count]} | | | |"
    ours = results.samples(workload, "headway", count)
    ratio = statistics.median(samples) / statistics.median(ours) if ours and statistics.median(ours) else None
    spread = f"{number(min(samples))} – {number(max(samples))}" if len(samples) > 1 else "–"
    return (f"{start} {number(statistics.median(samples))} | {spread} | {len(samples)} "
            f"| {f'{ratio:.2f}' if ratio else '–'} |")


def other_figures(results):
    """The secondary figures of some workloads."""
    lines = ["| figure | " + " | ".join(NAMES.values()) + " |", "|---" * (len(NAMES) + 1) + "|"]
    for title, workload, name, scale in (
        ("one: add → done → wake, 95%, ns", "one-operation", "p95", 1),
        ("interactive, idle, µs to start", "interactive-latency", "idle", 1),
        ("interactive, idle, 95%, µs", "interactive-latency", "idle95", 1),
        ("interactive, burning, µs to start", "interactive-latency", "burning", 1),
        ("interactive, burning, 95%, µs", "interactive-latency", "burning95", 1),
        ("hold-up, longest, ms", "hold-up", "longest", 1),
        *[(f"{title}, ns each", workload, name, 1) for what, workload in (
            ("a key path", "key-path-observed"), ("events", "events-observed"), ("progress", "progress-observed"))
          for title, name in ((f"{what}: not observed", "plain"), (f"{what}: observed", "observed"))],
        ("one each 150 µs: with the sleeping, µs of processor time", "arrivals", "withSleeping", 1),
        *[(f"{title}, ns each", workload, name, 1) for what, workload in (
            ("a name", "exclusive-name"), ("1,000 names", "thousand-names"), ("1,000 keys", "thousand-keys"))
          for title, name in ((f"{what}: without", "plain"), (f"{what}: with", "restricted"))],
        *[(f"{title}, ns each", workload, name, 1) for what, workload in (
            ("no work", "trace-empty"), ("10 µs of work", "trace-10us"))
          for title, name in ((f"{what}: no trace", "plain"), (f"{what}: trace", "traced"))],
        ("longest read without a snapshot, ms", "snapshot-delay", "alone", 1),
        ("999 of 1,000 reads during a snapshot within, µs", "snapshot-delay", "read", 1),
        ("the same without a snapshot, µs", "snapshot-delay", "readAlone", 1),
        ("a snapshot of all, ms", "snapshot-delay", "snapshot", 1),
        ("10,000 starts per second: latest, µs", "rate-limited", "latest", 1),
        ("10,000 starts per second: half within, µs", "rate-limited", "median", 1),
        ("10,000 starts per second: started early", "rate-limited", "early", 1),
        ("resident bytes of a pending delay", "delay-memory", "resident", 1),
        *[(f"{title}, ns each", "delays", name, 1) for title, name in (
            ("added without a delay", "plainAdd"), ("added with a delay", "delayedAdd"),
            ("cancelled without a delay", "plainCancel"), ("cancelled with a delay", "delayedCancel"))],
        ("most threads, sleepers", "sleepers", "mostThreads", 1),
        ("most threads busy, processor-bound", "processor-bound", "mostBusy", 1),
        ("resident bytes a waiting operation", "waiting-memory", "residentEach", 1),
        ("resident after the burst, MB more than before", "waiting-memory", "residentAfter", 1e-6),
        ("the same after malloc_trim, MB", "waiting-memory", "residentAfterTrim", 1e-6),
        ("allocated after the burst, MB more than before", "waiting-memory", "allocatedAfter", 1e-6),
    ):
        values = [results.figure(workload, rival, name) for rival in NAMES]
        if any(value is not None for value in values):
            cells = ["–" if value is None else number(value * scale) for value in values]
            lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def number(value):
    """Three digits, and no more than that matter."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
