"""What is measured: which workload with which rival, at which size.

Rivals that need far more time than the others get smaller sizes or fewer rounds; the tables show the size of each. See
Docs/decisions/0011-scheduler-benchmark.md.
"""

from dataclasses import dataclass, replace

SWIFT = ("headway", "dispatch", "tasks", "pool")
CPLUSPLUS = ("onetbb", "taskflow")
QUEUES = ("headway", "dispatch", "foundation")
KINDS = ("subclass", "asynchronous", "name", "completion-block")
FUNCTIONS = ("task", "suspending-task", "map", "stream", "blocking-calls")
# A detached task for each is the minimum cost of an operation that has its own task.
FUNCTION_RIVALS = dict.fromkeys(("task", "suspending-task"), ("headway", "tasks", "detached-tasks"))
OBSERVED = ("key-path-observed", "events-observed", "progress-observed")
# Headway is its own rival: the figures are ratios to the same work without a policy, or limits.
POLICIES = ("exclusive-name", "thousand-names", "thousand-keys")
TRACES = ("trace-empty", "trace-10us")
REUSABLE_GRAPHS = tuple(f"graph{again}-{shape}" for again in ("", "-again") for shape in ("chain", "grid", "random"))


@dataclass(frozen=True)
class Case:
    workload: str
    rival: str
    count: int
    # How often at most.
    rounds: int = 100


def full():
    """First what the budgets need, then the rest, and last the sizes that take longest."""
    million = 1_000_000
    big = 10 * million
    cases = each("independent", SWIFT + CPLUSPLUS, million) + each("chain", SWIFT + CPLUSPLUS, million)
    cases += as_written(("headway", "dispatch"), 300_000, observed=30_000)
    for workload, count in zip(FUNCTIONS, (300_000, 300_000, million, 100_000, 1_000)):
        cases += each(workload, FUNCTION_RIVALS.get(workload, ("headway", "tasks")), count)
    cases += each("fan", SWIFT + CPLUSPLUS, 200_000) + each("arrivals", (*QUEUES, "pool"), 5_000)
    cases += each("grid", SWIFT + CPLUSPLUS, 100_000) + each("one-operation", (*QUEUES, "pool"), 5_000)
    for workload in REUSABLE_GRAPHS:
        cases += each(workload, ("headway", *CPLUSPLUS), 100_000)
    cases += [Case("sleepers", "headway", 200), Case("processor-bound", "headway", 8)]
    cases += with_policies(100_000, starts=100_000, delays=million) + traced(100_000, waiting=million)
    cases += each("waiting-memory", (*QUEUES, "pool"), million, 2)
    cases += each("interactive-latency", QUEUES, 300) + each("fairness", QUEUES, 20_000)
    for count in (1_000, 10_000, 100_000, million):
        cases += each("growth", ("headway", "dispatch"), count) + [Case("beside-waiting", "headway", count)]
    for workload in ("deep-graph", "wide-graph"):
        cases += each(workload, SWIFT, 200_000)
    cases += each("mix", SWIFT, 10_000) + each("one-after-rest", (*QUEUES, "pool"), 1_000)
    cases += each("one-at-a-time", (*QUEUES, "pool"), 100_000) + each("in-order", ("headway", "dispatch"), 100_000)
    cases += each("pipeline", (*QUEUES, "pool"), 100_000)
    for workload in ("cancellation", "many-queues", "hold-up"):
        cases += each(workload, ("headway", "dispatch"), million)
    for workload in ("dependent-memory", "subclass-memory"):
        cases += [Case(workload, "headway", million, 2), Case(workload, "foundation", 100_000, 2)]
    for count in (1_000, 10_000, 100_000):
        cases += each("chain", SWIFT + CPLUSPLUS, count, 3)
    cases += each("growth", ("headway", "dispatch"), big, 2) + [Case("beside-waiting", "headway", big, 2)]
    cases += [Case("chain", "headway", big, 1)]
    cases += each("processor-bound", ("dispatch", "foundation", "tasks", "pool"), 8, 2)
    cases += each("sleepers", ("dispatch", "foundation"), 200, 2) + slow_foundation()
    return [case if judges(case) else replace(case, rounds=min(case.rounds, 2)) for case in cases]


def judges(case):
    """Whether a budget needs the case. Other cases are measured at most twice, which leaves time for these."""
    if case.workload in ("deep-graph", "wide-graph", "hold-up", "dependent-memory"):
        return False
    if case.workload in FUNCTIONS:
        return True
    return case.rival in ("headway", "dispatch") + CPLUSPLUS or (case.workload, case.rival) == ("mix", "pool")


def slow_foundation():
    """Cases that take Foundation far longer than its rivals: once or twice, at sizes that it can finish."""
    million = 1_000_000
    cases = [Case("independent", "foundation", million, 2)]
    for workload in ("cancellation", "many-queues", "hold-up"):
        cases += [Case(workload, "foundation", million, 1)]
    for workload in ("grid", "deep-graph", "wide-graph", "mix"):
        cases += [Case(workload, "foundation", 5_000, 1)]
    cases += [Case(workload, "foundation", 100_000, 1) for workload in KINDS] + [Case("fan", "foundation", 1_000, 1)]
    for count in (1_000, 3_000, 10_000):
        cases += [Case("chain", "foundation", count, 1)]
    for count in (100, 1_000):
        cases += [Case("beside-waiting", "foundation", count, 1)]
    return cases + [Case("growth", "foundation", count, 1) for count in (1_000, 10_000, 100_000, million)]


def quick():
    """First what the budgets need, then the rest."""
    two = ("headway", "dispatch")
    cases = each("independent", SWIFT + CPLUSPLUS, 100_000) + [Case("independent", "foundation", 20_000, 1)]
    cases += each("chain", SWIFT + CPLUSPLUS, 100_000) + each("grid", SWIFT + CPLUSPLUS, 20_000)
    for workload in REUSABLE_GRAPHS:
        cases += each(workload, ("headway", *CPLUSPLUS), 20_000)
    cases += each("one-operation", two, 1_000) + each("waiting-memory", QUEUES, 100_000, 1)
    cases += [Case("sleepers", "headway", 200, 1), Case("processor-bound", "headway", 8, 1)]
    for count in (1_000, 10_000, 100_000):
        cases += each("growth", two, count, 1) + each("beside-waiting", ("headway",), count, 1)
    cases += each("interactive-latency", two, 100, 1) + each("fairness", two, 5_000, 1)
    cases += [Case("chain", "foundation", 1_000, 1), Case("grid", "foundation", 1_000, 1)]
    cases += each("chain", two, 1_000, 1) + each("chain", two, 10_000, 1)
    for workload in ("deep-graph", "wide-graph"):
        cases += each(workload, SWIFT, 20_000)
    cases += each("mix", SWIFT, 2_000) + each("one-after-rest", two, 100)
    cases += as_written(two, 100_000, observed=20_000) + each("fan", SWIFT + CPLUSPLUS, 20_000)
    for workload, count in zip(FUNCTIONS, (100_000, 100_000, 100_000, 20_000, 200)):
        cases += each(workload, FUNCTION_RIVALS.get(workload, ("headway", "tasks")), count)
    cases += with_policies(20_000, starts=20_000, delays=100_000) + traced(20_000, waiting=100_000)
    cases += each("arrivals", two, 2_000) + [Case("subclass-memory", "headway", 100_000, 1)]
    cases += [Case("dependent-memory", "headway", 100_000, 1), Case("sleepers", "dispatch", 8, 1)]
    cases += each("one-at-a-time", two, 20_000) + each("in-order", two, 20_000)
    cases += each("pipeline", two, 20_000)
    for workload in ("cancellation", "many-queues", "hold-up"):
        cases += each(workload, two, 100_000)
    return cases


def as_written(rivals, count, observed):
    """Operations as programs have them: of each kind, and observed, which is measured against the same unobserved."""
    cases = [case for workload in KINDS for case in each(workload, rivals, count)]
    return cases + [Case(workload, "headway", observed) for workload in OBSERVED]


def with_policies(count, starts, delays):
    """Operations with policies. The starts are limited to 10,000 per second, so they take that long."""
    cases = [Case(workload, "headway", count) for workload in POLICIES] + [Case("rate-limited", "headway", starts, 2)]
    return cases + [Case(workload, "headway", delays, 2) for workload in ("delay-memory", "delays")]


def traced(count, waiting):
    """Operations with a trace and without one, and the cost of a check without a trace, and of a snapshot."""
    cases = [Case(workload, "headway", count) for workload in TRACES] + [Case("trace-off", "headway", 1_000_000, 2)]
    return cases + [Case("snapshot-delay", "headway", waiting, 2)]


def each(workload, rivals, count, rounds=100):
    return [Case(workload, rival, count, rounds) for rival in rivals]


PLANS = {"full": full, "quick": quick}
