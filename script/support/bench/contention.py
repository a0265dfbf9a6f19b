"""`script/bench contention`: what more processors would bring, computed from counts.

`valgrind --tool=callgrind` counts the instructions of each thread, how many of them are under a queue's lock and under
the pool's, and how often the locks are taken; the processor time of the same run without it says what an instruction
takes. From that, a closed network of queues (workers that compute, and wait at the two locks) gives the operations a
second for any number of workers, by mean value analysis (Reiser and Lavenberg, Journal of the ACM 27, 1980).
"""

import collections
import functools
import re
import resource
import statistics
import subprocess
import tempfile

from . import callgrind, programs

PROCESSORS = (1, 2, 4, 8, 16, 32, 64)
# In microseconds.
BODIES = (0, 1, 10)
# The examples of each kind. Each queue of the last kind has its own lock, with little contention.
WORKLOADS = {
    "independent": "one queue, blocks",
    "subclass": "one queue, subclasses with `main()`",
    "asynchronous": "one queue, asynchronous operations",
    "name": "one queue, blocks with a name",
    "completion-block": "one queue, blocks with a completion block",
    "chain": "one queue, a chain of dependencies",
    "grid": "one queue, a grid of dependencies",
    "fan": "one queue, one, many, one",
    "many-queues": "1,000 queues",
}
QUEUE_LOCK = re.compile(r"14OperationQueueC6update17collectingBatches")
# OperationStateMachine.markListed(isBarrier:)
TAKING_IN = re.compile(r"21OperationStateMachineV10markListed")
POOL_LOCK = re.compile(r"10WorkerPoolC13changeAndSend")
# A cache line that another processor has written takes 50 to 150 ns on present servers. A lock that changes hands
# transfers its own cache line and the lines of the data that it protects.
LINE = 100e-9
LINES_OF_A_LOCK = 4
# The operation, its links and its block, from the thread that added it.
LINES_OF_AN_OPERATION = 3


def add_command(commands):
    command = commands.add_parser(
        "contention", help="what more processors would bring, computed from counts", description=__doc__,
    )
    command.add_argument("--operations", type=int, default=30_000)
    command.add_argument("--rounds", type=int, default=5, help="the tables have the medians")
    command.set_defaults(run=bench_contention)


def bench_contention(arguments):
    subprocess.run(["valgrind", "--version"], check=True, stdout=subprocess.DEVNULL)
    program = programs.build_swift()
    rounds = [{workload: count(program, workload, arguments.operations) for workload in WORKLOADS}
              for _ in range(arguments.rounds)]
    counts = {workload: {name: statistics.median(counts[workload][name] for counts in rounds) for name in found}
              for workload, found in rounds[0].items()}
    print("| an operation | ns, adding | ns, workers | ns under the queue's lock | taken | ns under the pool's | taken "
          "| instructions | locked ones | allocations |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for workload, found in counts.items():
        figures = (f"{found['adder']:.0f}", f"{found['worker']:.0f}", f"{found['queue']:.0f}", f"{found['queueTakings']:.2f}",
                   f"{found['pool']:.0f}", f"{found['poolTakings']:.2f}", f"{found['instructions']:.0f}",
                   f"{found['locked']:.1f}", f"{found['allocations']:.1f}")
        print(f"| {WORKLOADS[workload]} | " + " | ".join(figures) + " |")
    print("\nComputed: how many times as fast as one worker, by the number of workers.\n")
    print("| | body | " + " | ".join(str(workers) for workers in PROCESSORS) + " |")
    print("|---|---|" + "---|" * len(PROCESSORS))
    for workload, found in counts.items():
        # However many there are, a chain occupies one.
        for body in BODIES if workload != "chain" else ():
            rates = [rate(found, body * 1e-6, workers, workload == "many-queues") for workers in PROCESSORS]
            row = " | ".join(f"{each / rates[0]:.1f}" for each in rates)
            print(f"| {WORKLOADS[workload]} | {body} µs | {row} |")


def count(program, workload, operations):
    """The average cost of an operation: nanoseconds, and acquisitions of locks."""
    with tempfile.TemporaryDirectory() as folder:
        # The first thread adds.
        threads = [read(path) for path in callgrind.profile(program, workload, operations, folder)]
    instructions = sum(thread["instructions"] for thread in threads)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    callgrind.run([program, workload, "headway", str(operations)])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    total = {name: sum(thread[name] for thread in threads) for name in threads[0]}
    # Each is taken into the queue once.
    number = total["operations"]
    each = 1e9 * seconds / instructions / number
    return {
        "adder": threads[0]["instructions"] * each,
        "worker": (instructions - threads[0]["instructions"]) * each,
        "queue": total["queue"] * each,
        "pool": total["pool"] * each,
        "queueTakings": total["queueTakings"] / number,
        "poolTakings": total["poolTakings"] / number,
        "instructions": instructions / number,
        "locked": total["locked"] / number,
        "allocations": total["allocations"] / number,
    }


def read(path):
    """Sums of one thread, out of callgrind's format: https://valgrind.org/docs/manual/cl-format.html."""
    sums = collections.Counter(dict.fromkeys(
        ("instructions", "locked", "allocations", "operations", "queue", "pool", "queueTakings", "poolTakings"), 0))
    library = caller = callee = calls = None
    with open(path) as file:
        for line in file:
            if line.startswith("ob="):
                library = line[3:].strip()
            elif line.startswith("fn="):
                caller = line[3:]
            elif line.startswith("cfn="):
                callee = line[4:]
            elif line.startswith("calls="):
                calls = int(line[6:].split()[0])
            elif line.startswith("0x"):
                address, _, cost = line.split()
                if calls is None:
                    sums["instructions"] += int(cost)
                    if int(address, 16) in locked_instructions(library):
                        sums["locked"] += int(cost)
                    continue
                for name, pattern in (("queue", QUEUE_LOCK), ("pool", POOL_LOCK)):
                    if pattern.search(callee) and not pattern.search(caller):
                        sums[name] += int(cost)
                        sums[name + "Takings"] += calls
                if TAKING_IN.search(callee):
                    sums["operations"] += calls
                if callee.strip() == "malloc":
                    sums["allocations"] += calls
                calls = None
    return sums


@functools.cache
def locked_instructions(library):
    """The addresses of the instructions of a library that lock a cache line."""
    if not library.startswith("/"):
        return frozenset()
    listed = subprocess.run(["objdump", "-d", "--no-show-raw-insn", library], capture_output=True, text=True)
    found = re.findall(r"^ *([0-9a-f]+):\s+(?:lock |xchg [^\n]*\()", listed.stdout, re.MULTILINE)
    return frozenset(int(address, 16) for address in found)


def rate(found, body, workers, has_many_queues):
    """Operations a second of so many workers: mean value analysis of a closed network."""
    moving = LINE if workers > 1 else 0
    queue = found["queue"] * 1e-9 + found["queueTakings"] * LINES_OF_A_LOCK * moving
    pool = found["pool"] * 1e-9 + found["poolTakings"] * LINES_OF_A_LOCK * moving
    # The work outside the locks of a worker; another thread adds.
    alone = body + max(found["worker"] - found["queue"] - found["pool"], 0) * 1e-9 + LINES_OF_AN_OPERATION * moving
    stations = [pool]
    if has_many_queues:
        alone += queue
    else:
        stations.append(queue)
    waiting = [0.0] * len(stations)
    for number in range(1, workers + 1):
        residence = [demand * (1 + others) for demand, others in zip(stations, waiting)]
        throughput = number / (alone + sum(residence))
        waiting = [throughput * each for each in residence]
    return throughput
