"""What all rivals share: the command line, the four modes, and the line of JSON with the figures.

    rival_huey.py MODE --store STORE --jobs N [--producers 64] [--warm-up S] [--seconds S]

STORE is a file that does not exist, or the URL of an empty PostgreSQL database.

MODE is one of these. Each job has 200 bytes of JSON, and its handler decodes and counts it:

    through   64 producers enqueue, each waits until its job is durable, and one worker runs, until all jobs have ended
    drain     jobs that were enqueued before are run by one worker
    single    one producer enqueues, and waits each time until the job is durable; no worker
    batch     one producer enqueues batches of 1,000, each in one transaction; no worker

The warm-up repeats the same work for the given number of seconds. The rate of its last repetition determines the number
of jobs: as many as take `--seconds`, at most `--jobs`. Without a warm-up, that number is exactly `--jobs`.
"""

import argparse
import json
import os
import platform
import resource
import sqlite3
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata

PAYLOAD_BYTES = 200
BATCH = 1_000
# A run has failed if no job ends for this many seconds.
PATIENCE = 60


class Rival:
    """A queue under test. Subclasses implement everything that raises `NotImplementedError`."""

    package = ""
    has_batches = False

    def __init__(self):
        self.lock = threading.Lock()
        self.enqueued = 0
        self.handled = 0
        self.sum = 0

    def open(self, store):
        """Creates the queue in a new file, with each commit synced."""
        raise NotImplementedError

    def close(self):
        """Closes the queue."""

    def enqueue(self, payload):
        """Returns when the job is durable. Called by many threads."""
        raise NotImplementedError

    def enqueue_batch(self, payloads):
        """Returns when all of these jobs are durable. They were enqueued in one transaction."""
        raise NotImplementedError

    def produce(self, payloads, producers):
        """Has several producers enqueue jobs. Each producer waits until its job is durable."""
        def produce(first):
            for number in range(first, len(payloads), producers):
                self.enqueue(payloads[number])

        with ThreadPoolExecutor(producers) as pool:
            list(pool.map(produce, range(producers)))

    def start(self):
        """Starts the worker."""
        raise NotImplementedError

    def stop(self):
        """Stops the worker and waits for its end."""
        raise NotImplementedError

    def handle(self, payload):
        """The handler of all jobs."""
        number = json.loads(payload)["number"]
        with self.lock:
            self.handled += 1
            self.sum += number

    def ended(self):
        """The number of jobs whose end is recorded."""
        return self.handled

    def execute(self, statement):
        """Executes SQL on the connection that the rival writes with and returns the first column of the first row."""
        raise NotImplementedError

    def settings(self):
        """The settings that determine whether a commit is durable, read from the connection that writes."""
        synchronous = self.execute("PRAGMA synchronous")
        return {"journal": self.execute("PRAGMA journal_mode"),
                "synchronous": {0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA"}[synchronous],
                "sqlite": sqlite3.sqlite_version}

    def fill(self, payloads):
        """Enqueues jobs as quickly as possible. This is not measured, so commits need no sync."""
        if self.has_batches:
            for start in range(0, len(payloads), BATCH):
                self.enqueue_batch(payloads[start:start + BATCH])
            return
        self.execute("PRAGMA synchronous = OFF")
        for payload in payloads:
            self.enqueue(payload)
        self.execute("PRAGMA synchronous = FULL")


class Run:
    """Runs one mode for a number of jobs, as often as it is called."""

    def __init__(self, rival, mode, producers):
        self.rival, self.mode, self.producers = rival, mode, producers
        self.sum = 0

    def payloads(self, count):
        numbers = range(self.rival.enqueued, self.rival.enqueued + count)
        self.rival.enqueued += count
        self.sum += sum(numbers)
        return [payload(number) for number in numbers]

    def __call__(self, count):
        """Returns the seconds and the processor seconds."""
        payloads = self.payloads(count)
        if self.mode == "drain":
            self.rival.fill(payloads)
        start, processor = time.monotonic(), processor_seconds()
        getattr(self, self.mode)(payloads)
        result = time.monotonic() - start, processor_seconds() - processor
        if self.mode == "drain":
            self.rival.stop()
        return result

    def through(self, payloads):
        self.rival.produce(payloads, self.producers)
        self.wait()

    def drain(self, payloads):
        self.rival.start()
        self.wait()

    def single(self, payloads):
        self.rival.produce(payloads, 1)

    def batch(self, payloads):
        for start in range(0, len(payloads), BATCH):
            self.rival.enqueue_batch(payloads[start:start + BATCH])

    def wait(self):
        """Waits until all jobs have ended."""
        last, since, enqueued = -1, time.monotonic(), self.rival.enqueued
        while (ended := self.rival.ended()) < enqueued:
            if ended != last:
                last, since = ended, time.monotonic()
            elif time.monotonic() - since > PATIENCE:
                sys.exit(f"{ended} of {enqueued} jobs ended, and then none for {PATIENCE} s")
            time.sleep(0.001)
        if (self.rival.handled, self.rival.sum) != (enqueued, self.sum):
            sys.exit(f"{self.rival.handled} jobs ran instead of {enqueued}, or other ones")


def payload(number):
    """JSON of exactly 200 bytes."""
    start = f'{{"number": {number}, "text": "'
    return f'{start}{"x" * (PAYLOAD_BYTES - len(start) - 2)}"}}'


def processor_seconds():
    usages = [resource.getrusage(which) for which in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def mark(store, event):
    """Opens a file that does not exist, so that a list of system calls shows where the measured part is."""
    try:
        os.close(os.open(f"{store}.{event}", os.O_RDONLY))
    except FileNotFoundError:
        pass


def warm_up(run, seconds, least):
    """Repeats the work, for one second each time, and returns the jobs per second of the last repetition."""
    end, count = time.monotonic() + seconds, least
    while True:
        took, _ = run(count)
        rate = count / took
        left = end - time.monotonic()
        if left <= 0:
            return rate
        count = max(least, round_up(rate * min(left, 1), least))


def round_up(count, multiple):
    return int(-(-count // multiple) * multiple)


def main(rival):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["through", "drain", "single", "batch"])
    parser.add_argument("--store", required=True, help="a file that does not exist, or a URL")
    parser.add_argument("--jobs", type=int, required=True)
    parser.add_argument("--producers", type=int, default=64)
    parser.add_argument("--warm-up", type=float, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    arguments = parser.parse_args()
    if arguments.mode == "batch" and not rival.has_batches:
        print(json.dumps({"rival": rival.package, "mode": "batch", "absent": "enqueues one job per transaction"}))
        return
    rival.open(arguments.store)
    run = Run(rival, arguments.mode, arguments.producers)
    least = BATCH if arguments.mode == "batch" else arguments.producers
    count = arguments.jobs
    if arguments.mode == "through":
        rival.start()
    if arguments.warm_up:
        rate = warm_up(run, arguments.warm_up, least)
        count = min(count, round_up(rate * arguments.seconds, least))
    settings = rival.settings()
    mark(arguments.store, "begin")
    seconds, processor = run(count)
    mark(arguments.store, "end")
    if arguments.mode == "through":
        rival.stop()
    rival.close()
    print(json.dumps({
        "rival": rival.package, "version": metadata.version(rival.package), "mode": arguments.mode, "jobs": count,
        "producers": arguments.producers if arguments.mode == "through" else 1, "seconds": seconds,
        "jobsPerSecond": count / seconds if count else 0, "processorSeconds": processor, **settings,
        "python": platform.python_version(),
    }))
