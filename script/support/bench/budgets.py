"""The budgets of Headway, as ratios to the rivals of the same run, and whether it met them."""

from dataclasses import dataclass

from .tables import NAMES


@dataclass
class Verdict:
    work: str
    measured: str
    needed: str
    # None when there is nothing to judge by.
    met: bool | None


def judge(results):
    return [
        against(results, "independent operations, against Dispatch", "independent", "dispatch", 0.4),
        against_best(results, "independent operations", "independent", ("taskflow", "onetbb"), 0.9),
        *[against(results, f"{title}, against Dispatch", workload, "dispatch", most) for title, workload, most in (
            ("a subclass with main()", "subclass", 0.6),
            ("an asynchronous operation that finishes in main()", "asynchronous", 0.6),
            ("a block operation with a name", "name", 0.6),
            ("a block operation with a completion block", "completion-block", 0.7),
            ("one, many that wait for it, one that waits for all", "fan", 0.6))],
        *[against(results, f"{title}, against a task group", workload, "tasks", most) for title, workload, most in (
            ("an asynchronous function that does not suspend", "task", 0.5),
            ("an asynchronous function that suspends once", "suspending-task", 0.8),
            ("map with 64 calls under way", "map", 0.7),
            ("a function next to a thousand that block", "blocking-calls", 0.1))],
        *[against_cplusplus(results, title, workload) for title, workload in (
            ("chain of dependencies", "chain"), ("grid, three dependencies each", "grid"))],
        *[against_cplusplus(results, f"OperationGraph, {what}: {shape}", f"{workload}-{shape}", 0.7)
          for what, workload in (("build and run", "graph"), ("run again", "graph-again"))
          for shape in ("chain", "grid", "random")],
        *[against(results, f"{title}, against Dispatch", workload, "dispatch", most) for title, workload, most in (
            ("cancel all waiting", "cancellation", 1), ("one at a time", "one-at-a-time", 0.6),
            ("one at a time, in insertion order", "in-order", 0.6),
            ("1,000 queues", "many-queues", 0.6), ("pipeline of three queues", "pipeline", 0.6),
            ("one operation on an idle queue", "one-operation", 1),
            ("one after 1 ms of rest", "one-after-rest", 1))],
        at_most(results, "1–100 µs with random dependencies, against ideal", "mix", 1.03, "×"),
        against(results, "1–100 µs with random dependencies, against a plain thread pool", "mix", "pool", 1),
        *[at_most(results, f"{title}, against the same without", workload, 2, "×") for title, workload in (
            ("a key path observed on each", "key-path-observed"), ("events listened to", "events-observed"),
            ("progress tracked", "progress-observed"))],
        *[at_most(results, f"{title}, against the same without", workload, most, "×") for title, workload, most in (
            ("a name used exclusively, all different", "exclusive-name", 1.5),
            ("1,000 names used exclusively", "thousand-names", 2), ("1,000 keys", "thousand-keys", 2))],
        at_most(results, "recorded in a trace, 10 µs of work, against no trace", "trace-10us", 1.05, "×"),
        at_most(results, "the check for a trace that is off", "trace-off", 2, "ns"),
        at_most(results, "longest read of a count during a snapshot of all waiting operations", "snapshot-delay", 1, "ms"),
        no_early_starts(results),
        at_most(results, "memory of a pending delay", "delay-memory", 200, "bytes"),
        at_most(results, "200 × sleep 0.5 s", "sleepers", 0.6, "s"),
        at_most(results, "processor-bound operations, against plain threads", "processor-bound", 1.03, "×"),
        busy_threads(results),
        at_most(results, "memory of a waiting operation, closure included", "waiting-memory", 100, "bytes"),
        at_most(results, "memory of a waiting subclass with one dependency", "subclass-memory", 200, "bytes"),
        against(results, "processor time with one each 150 µs, against Dispatch", "arrivals", "dispatch", 1.2),
        growth(results, "cost of one by number waiting: filled and emptied", "growth"),
        growth(results, "cost of one by number waiting: one more next to them", "beside-waiting"),
        at_most(results, "interactive operation while background burns, against idle", "interactive-latency", 2, "×"),
        at_least(results, "two busy queues: the slower's part of the faster", "fairness", 0.9),
    ]


def missing(work, needed):
    return Verdict(work, "not measured", needed, None)


def against(results, work, workload, rival, most):
    needed = f"≤ {most} ×"
    common = set(results.counts(workload, "headway")) & set(results.counts(workload, rival))
    if not common:
        return missing(work, needed)
    ours, theirs = (results.median(workload, name, max(common)) for name in ("headway", rival))
    return Verdict(work, f"{ours / theirs:.2f} ×", needed, ours / theirs <= most)


def against_cplusplus(results, work, workload, most=1):
    """Taskflow is the one to reach; oneTBB is in its place where it is not there."""
    rival = "taskflow" if results.median(workload, "taskflow") else "onetbb"
    name = {"taskflow": "Taskflow", "onetbb": "oneTBB, instead of Taskflow"}[rival]
    return against(results, f"{work}, against {name}", workload, rival, most)


def against_best(results, work, workload, rivals, most):
    """Against whichever of them is fastest in this run."""
    medians = {rival: results.median(workload, rival) for rival in rivals}
    best = min((rival for rival in rivals if medians[rival]), key=medians.get, default=rivals[0])
    names = " and ".join(NAMES[rival] for rival in rivals)
    return against(results, f"{work}, against the better of {names} ({NAMES[best]})", workload, best, most)


def at_most(results, work, workload, most, unit):
    ours = results.median(workload, "headway")
    if ours is None:
        return missing(work, f"≤ {most} {unit}")
    return Verdict(work, f"{ours:.3g} {unit}", f"≤ {most} {unit}", ours <= most)


def at_least(results, work, workload, least):
    ours = results.median(workload, "headway")
    if ours is None:
        return missing(work, f"≥ {least}")
    return Verdict(work, f"{ours:.2f}", f"≥ {least}", ours >= least)


def busy_threads(results):
    work, needed = "processor-bound operations: threads busy at the same time", "≤ processors + 1"
    busy = results.figure("processor-bound", "headway", "mostBusy")
    if busy is None:
        return missing(work, needed)
    # The thread that waits for the end was seen asleep or not at all.
    return Verdict(work, f"{busy:.0f}", needed, busy <= results.figure("processor-bound", "headway", "processors") + 1)


def no_early_starts(results):
    work, needed = "10,000 starts per second: started early", "none"
    early = results.figure("rate-limited", "headway", "early")
    if early is None:
        return missing(work, needed)
    return Verdict(work, f"{early:.0f}", needed, early == 0)


def growth(results, work, workload):
    """The biggest size measured against 10,000."""
    counts = results.counts(workload, "headway")
    if 10_000 not in counts or counts[-1] <= 10_000:
        return missing(work, "≤ 1.2 ×")
    ratio = results.median(workload, "headway", counts[-1]) / results.median(workload, "headway", 10_000)
    return Verdict(f"{work}, {counts[-1]:,} against 10,000", f"{ratio:.2f} ×", "≤ 1.2 ×", ratio <= 1.2)
