"""Tests the example JobServer: see script/check-server.

    python3 script/support/check_server.py PROGRAM [--seconds N]
"""

import argparse
import collections
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

SAMPLE = re.compile(r'^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)$')
FAULTS = (ConnectionError, http.client.HTTPException, TimeoutError)


class Server:
    """A server process on a free port."""

    def __init__(self, program, folder, *options):
        self.report = folder / "ends.json"
        self.report.unlink(missing_ok=True)
        self.log = open(folder / "log.txt", "w+")
        self.process = subprocess.Popen(
            [program, "--port", "0", *map(str, options)], stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("Listening on port "):
            sys.exit(f"script/check-server: the server did not start: {line}")
        self.port = int(line.split()[-1])

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def get(self, path):
        connection = self.connect()
        connection.request("GET", path)
        response = connection.getresponse()
        body = response.read().decode()
        connection.close()
        expect(response.status == 200, f"GET {path} is answered with {response.status}")
        return body

    def stop(self, seconds):
        """Waits until the process ends after SIGTERM. Returns the seconds and the log."""
        begin = time.monotonic()
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            sys.exit(f"script/check-server: the server did not end within {seconds} s of SIGTERM")
        self.log.seek(0)
        text = self.log.read()
        expect(status == 0, f"the server exited with {status}:\n{text}")
        return time.monotonic() - begin, text

    def ends(self):
        return collections.defaultdict(list, json.loads(self.report.read_text()))


def expect(condition, message):
    if not condition:
        sys.exit(f"script/check-server: {message}")


def metrics(text):
    """Returns the samples of a page in Prometheus' text format. Fails if the page is malformed."""
    samples, types = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            expect(name not in types, f"/metrics has two types for {name}")
            types[name] = kind
            continue
        match = SAMPLE.match(line)
        expect(match, f"/metrics has a malformed line: {line}")
        name, labels, value = match.groups()
        base = re.sub("_(bucket|sum|count)$", "", name)
        expect(name in types or types.get(base) == "histogram", f"/metrics has no type for {name}")
        expect((name, labels) not in samples, f"/metrics has two samples {name} {labels}")
        samples[name, labels] = float(value)
    return samples


def send(server, count, threads, path, results, term_after=None):
    """Sends requests on several connections; returns when all have been answered or rejected."""
    lock, sent = threading.Lock(), [0]

    def work():
        connection = server.connect()
        while True:
            with lock:
                if sent[0] >= count:
                    return
                sent[0] += 1
                number = sent[0]
            if number == term_after:
                server.process.send_signal(signal.SIGTERM)
            try:
                connection.request("POST", path(number))
                response = connection.getresponse()
                body = response.read()
                answer = json.loads(body)["job"] if response.status == 202 else None
                with lock:
                    results[response.status].append(answer)
            except FAULTS as fault:
                # The server no longer listens, or has closed the connection after the last answer.
                connection.close()
                connection = server.connect()
                kind = "no connection" if isinstance(fault, ConnectionRefusedError) else "closed connection"
                with lock:
                    results[kind].append(None)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def check_conservation(server, results):
    """Each accepted job has run or failed, or was reported as left; none twice."""
    ends = server.ends()
    all_ends = ends["run"] + ends["failed"] + ends["left"]
    accepted = results[202]
    expect(len(set(accepted)) == len(accepted), "two requests have the same job")
    expect(len(set(all_ends)) == len(all_ends), "a job has ended twice")
    missing = set(accepted) - set(all_ends)
    expect(not missing, f"{len(missing)} accepted jobs are lost: {sorted(missing)[:10]}")
    # Jobs whose response did not reach the client.
    unanswered = set(all_ends) - set(accepted)
    closed = len(results["closed connection"])
    expect(len(unanswered) <= closed, "more jobs have ended than were requested")
    others = set(results) - {202, 503, "no connection", "closed connection"}
    expect(not others, f"requests were answered with {others}")
    return ends


def counts(results):
    return ", ".join(f"{len(results[key])} × {key}" for key in sorted(results, key=str) if results[key])


def check_pages(server):
    samples = metrics(server.get("/metrics"))
    for name in [
            "headway_queue_depth", "headway_queue_oldest_waiting_duration_seconds", "headway_operations_total",
            "headway_operation_waiting_duration_seconds_count", "headway_operation_duration_seconds_count",
            "headway_operation_retries_total", "headway_threads"]:
        expect(any(name == known for known, _ in samples), f"/metrics has no {name}")
    page = server.get("/queues")
    expect("<h1>Queues</h1>" in page and "queues.json" in page, "/queues is not the page of the queues")
    snapshot = json.loads(server.get("/queues.json"))
    expect("jobs" in [queue.get("name") for queue in snapshot["queues"]], "/queues.json has no queue “jobs”")
    return samples


def check_shutdown_under_load(program, folder):
    server = Server(program, folder, "--report", folder / "ends.json", "--max-jobs", 300)
    results = collections.defaultdict(list)
    # One job is retried, and one fails.
    warm = collections.defaultdict(list)
    send(server, 2, 1, lambda number: f"/jobs?failures={2 * number - 1}", warm)
    while metrics(server.get("/metrics")).get(("headway_operations_total", 'queue="jobs",status="failed"')) != 1:
        pass
    samples = check_pages(server)
    expect(samples["headway_operation_retries_total", 'queue="jobs"'] == 3, "the retries are not counted")
    expect("attempt" in server.get("/spans"), "/spans has no attempts")
    results[202] += warm[202]
    send(server, 1_000, 50, lambda number: f"/jobs?customer={number % 7}&milliseconds=20", results, term_after=500)
    seconds, log = server.stop(25)
    # Each thread has one connection, which the server can close between two requests. Later requests can't connect.
    expect(len(results["closed connection"]) <= 50, f"open connections were closed: {counts(results)}")
    ends = check_conservation(server, results)
    expect(ends["left"] == [], f"jobs are left although there was time: {ends['left']}")
    expect("Operation failed" in log and "job 2" in log, "the failure is not in the log")
    print(f"SIGTERM under load: {counts(results)}; {len(ends['run'])} jobs have run, {len(ends['failed'])} has failed, "
          f"none is left; the process ended {seconds:.1f} s after the last request.")


def check_shutdown_with_rest(program, folder):
    server = Server(
        program, folder, "--report", folder / "ends.json", "--grace-period", 1, "--concurrent-jobs", 4)
    results = collections.defaultdict(list)
    send(server, 20, 8, lambda number: "/jobs?milliseconds=5", results)
    # Otherwise, long jobs could occupy all slots before the short ones start.
    while metrics(server.get("/metrics")).get(("headway_operations_total", 'queue="jobs",status="succeeded"')) != 20:
        pass
    send(server, 20, 8, lambda number: "/jobs?milliseconds=30000", results)
    server.process.send_signal(signal.SIGTERM)
    seconds, log = server.stop(15)
    ends = check_conservation(server, results)
    expect(len(ends["left"]) == 20, f"{len(ends['left'])} jobs are left instead of 20")
    expect("before all operations had finished" in log, "the log does not report the rest")
    print(f"SIGTERM with long jobs: {len(ends['run'])} have run, {len(ends['left'])} were reported as left; the process "
          f"ended after {seconds:.1f} s.")


def check_overload(program, folder):
    server = Server(program, folder, "--report", folder / "ends.json", "--max-jobs", 10, "--concurrent-jobs", 1)
    results = collections.defaultdict(list)
    send(server, 100, 10, lambda number: "/jobs?milliseconds=50", results)
    expect(results[503] and results[202], f"a full queue refuses requests: {counts(results)}")
    server.process.send_signal(signal.SIGTERM)
    server.stop(25)
    check_conservation(server, results)
    print(f"Full queue: {counts(results)}.")


def soak(program, folder, seconds):
    server = Server(program, folder, "--max-jobs", 1_000)
    end, requests, refused, memory = time.monotonic() + seconds, [0], [0], []
    lock = threading.Lock()

    def work(number):
        connection = server.connect()
        while time.monotonic() < end:
            connection.request("POST", f"/jobs?customer={number}&milliseconds=2&failures={int(requests[0] % 50 == 0)}")
            response = connection.getresponse()
            response.read()
            with lock:
                requests[0] += 1
                refused[0] += response.status != 202

    workers = [threading.Thread(target=work, args=[number]) for number in range(16)]
    for worker in workers:
        worker.start()
    page, begin = os.sysconf("SC_PAGESIZE"), time.monotonic()
    while any(worker.is_alive() for worker in workers):
        resident = int(pathlib.Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]) * page
        memory.append(resident)
        fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")")[1].split()
        processor = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        samples = metrics(server.get("/metrics"))
        depth = sum(value for (name, _), value in samples.items() if name == "headway_queue_depth")
        print(f"{time.monotonic() - begin:5.0f} s  {resident / 2**20:7.1f} MB  {requests[0]:8d} requests, "
              f"{refused[0]} refused, {depth:.0f} jobs in the queue, {processor:.1f} s of processor time", flush=True)
        time.sleep(5)
    samples = check_pages(server)
    server.process.send_signal(signal.SIGTERM)
    server.stop(25)
    third = memory[len(memory) // 3:]
    done = sum(value for (name, _), value in samples.items() if name == "headway_operations_total")
    print(f"{requests[0]} requests in {seconds} s; {done:.0f} jobs have ended; in the last two thirds of the time, "
          f"the memory grew by {(third[-1] - third[0]) / 2**20:.1f} MB.")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seconds", type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if options.seconds:
            return soak(options.program, folder, options.seconds)
        check_overload(options.program, folder)
        check_shutdown_under_load(options.program, folder)
        check_shutdown_with_rest(options.program, folder)


main()
