"""`script/bench dashboard`: how long the pages of the dashboard take with many jobs (rule J154).

The tables of a store are filled by SQL: jobs that wait or retry in 1,500 queues, and jobs that have succeeded, failed
or were cancelled, with labels, tags, histories and payloads of usual sizes. Then a dashboard serves the store, and each
page is read several times, the first time without anything in the memory of the process.
"""

import http.client
import json
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

from . import programs
from .jobs_server import Server
from .paths import RESULTS, ROOT

LIMIT = 0.1
# The greatest size of a page in bytes.
SIZE_LIMIT = 200_000
PAGES = ["/", "/queues", "/jobs", "/jobs?state=waiting", "/jobs?state=failed", "/jobs?state=succeeded",
         "/jobs?state=running", "/jobs?state=held", "/jobs?state=retrying", "/jobs?queue=queue-7&state=retrying",
         "/jobs?queue=queue-7&state=waiting", "/jobs?queue=queue-7", "/jobs?kind=rare", "/jobs?tag=tag-77",
         "/jobs?label=photo+123456", "/jobs?payload=photos/123456", "/jobs?ended-from=2026-01-01T00:00", "/jobs?age=1h",
         "/errors", "/errors?muted=1", "/trends", "/trends?over=day", "/schedules", "/workers", "/changes", "/health",
         "/confirm?action=retry&state=failed", "/confirm?action=cancel&state=waiting"]
# The numbers of the states.
with open(f"{ROOT}/Sources/HeadwayJobs/Job/JobState.swift") as source:
    STATES = dict(re.findall(r"case (\w+) = (\d)", source.read()))
DONE_STATE = "CASE WHEN n % 100 = 3 THEN {failed} WHEN n % 200 = 9 THEN {cancelled} ELSE {succeeded} END"
DONE_STATE = DONE_STATE.format(**STATES)
# One of 50 jobs retries.
WAITING_STATE = "CASE WHEN n % 50 = 1 THEN {retrying} ELSE {waiting} END".format(**STATES)
COMMON = ("id, queue, kind, version, priority, position, enqueued, attempt, crashes, snoozes, epoch, settings, "
          "payload, ready")
VALUES = """
  {id}, 'queue-' || ({n} % {queues}), CASE WHEN {n} % 100000 = 7 THEN 'rare' ELSE 'kind-' || ({n} % 20) END, 1,
  4 * ({n} % 3 - 1), {id}, {now} - ({count} - {n}) * 1000, {attempt}, 0, 0, {attempt},
  CAST('{{"label":"photo ' || {n} || '","tags":["tag-' || ({n} % 1000) || '","album"]}}' AS BLOB),
  CAST('{{"path":"photos/' || {n} || '.jpg","text":"' || printf('%.*c', 150, 'x') || '"}}' AS BLOB),
  {now} - ({count} - {n}) * 1000"""
FILL = """
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count})
INSERT INTO {table} ({common}, {columns}) SELECT {values}, {others} FROM numbers"""
# The same rows, for PostgreSQL.
POSTGRES_VALUES = """
  {id}, 'queue-' || (n % {queues}), CASE WHEN n % 100000 = 7 THEN 'rare' ELSE 'kind-' || (n % 20) END, 1,
  4 * (n % 3 - 1), {id}, now() - ({count} - n) * interval '1 ms', {attempt}, 0, 0, {attempt},
  convert_to('{{"label":"photo ' || n || '","tags":["tag-' || (n % 1000) || '","album"]}}', 'UTF8'),
  convert_to('{{"path":"photos/' || n || '.jpg","text":"' || repeat('x', 150) || '"}}', 'UTF8'),
  now() - ({count} - n) * interval '1 ms'"""
POSTGRES_DONE = """
INSERT INTO headway.done ({common}, state, claimed, first_claimed, owner, finished, expires, reason, reason_text, history)
SELECT {values}, {state},
  now() - ({count} - n) * interval '1 ms', now() - ({count} - n) * interval '1 ms', 1,
  now() - ({count} - n) * interval '1 ms', now() + interval '1 day',
  CASE WHEN n % 100 = 3 THEN 'failed' WHEN n % 200 = 9 THEN 'cancelled' END,
  CASE WHEN n % 100 = 3 OR n % 200 = 9 THEN '' END, CASE WHEN n % 100 = 3 THEN convert_to('{history}', 'UTF8') END
FROM generate_series(1, {count}) AS n"""
POSTGRES_WAITING = """
INSERT INTO headway.job ({common}, state, due, flags, unmet)
SELECT {values}, {state}, CASE WHEN n % 50 = 1 THEN now() + interval '1 hour' END, 0, 0 FROM generate_series(1, {count}) AS n"""
# Statistics of the last hour by minute and of the last day by hour, as full as a store keeps them, and their total.
STATISTICS = ("level, start, queue, kind, enqueued, restarted, succeeded, failed, cancelled, failed_attempts, crashes, "
              "waits, runs")
GROUP_COUNT = 250
POSTGRES_STATISTICS = """
INSERT INTO headway.statistic ({columns})
SELECT level, date_trunc(unit, now()) - n * ('1 ' || unit)::interval, 'queue-' || g, 'kind-' || (g % 20), 10, 0, 9, 1, 0,
  2, 0, decode('60' || repeat('01', 30), 'hex'), decode('60' || repeat('01', 30), 'hex')
FROM (VALUES (0, 'minute', 60), (1, 'hour', 24)) AS span(level, unit, periods)
CROSS JOIN LATERAL generate_series(0, periods - 1) AS n CROSS JOIN generate_series(1, {groups}) AS g
UNION ALL SELECT 2, 'epoch', '*', '*', {waiting} + {finished}, 0, {finished}, 0, 0, 0, 0, NULL, NULL"""
HISTORY = json.dumps({"errors": [{
    "attempt": 1, "time": {"microseconds": 1_795_000_000_000_000}, "type": "NetworkError",
    "text": "The server mail-17.example.org closed the connection."}], "transitions": []})


def add_command(commands):
    command = commands.add_parser("dashboard", help="the pages of the dashboard with many jobs", description=__doc__)
    command.add_argument("--waiting", type=int, default=1_000_000, help="jobs that wait (default: 1,000,000)")
    command.add_argument("--finished", type=int, default=10_000_000, help="jobs that ended (default: 10,000,000)")
    command.add_argument("--queues", type=int, default=1_500, help="the queues that the jobs are in (default: 1,500)")
    command.add_argument("--runs", type=int, default=15, help="how often each page is read (default: 15)")
    command.add_argument("--store", help="keeps the store in this file; an existing file is not filled")
    command.add_argument("--postgres", action="store_true",
                         help="a store in PostgreSQL, on a server with the default durability")
    command.add_argument("--program", help="the dashboard to measure, instead of building it")
    command.set_defaults(run=bench_dashboard)


def fill(path, waiting, finished, queues):
    """Fills the tables, which exist."""
    database = sqlite3.connect(path, isolation_level=None)
    database.executescript("PRAGMA synchronous = OFF; PRAGMA cache_size = -500000; BEGIN")
    now = time.time_ns() // 1000
    done = VALUES.format(id="n", n="n", count=finished, now=now, attempt=1, queues=queues)
    others = (f"{DONE_STATE}, "
              f"{now} - ({finished} - n) * 1000 - 500, "
              f"{now} - ({finished} - n) * 1000 - 500, 1, {now} - ({finished} - n) * 1000, {now} + 86400000000, "
              "CASE WHEN n % 100 = 3 THEN 'failed' WHEN n % 200 = 9 THEN 'cancelled' END, "
              "CASE WHEN n % 100 = 3 OR n % 200 = 9 THEN '' END, CASE WHEN n % 100 = 3 THEN CAST(:history AS BLOB) END")
    columns = "state, claimed, first_claimed, owner, finished, expires, reason, reason_text, history"
    database.execute(FILL.format(table="headway_done", count=finished, common=COMMON, columns=columns, values=done,
                                 others=others), {"history": HISTORY})
    wait = VALUES.format(id=f"{finished} + n", n="n", count=waiting, now=now, attempt=0, queues=queues)
    database.execute(FILL.format(table="headway_job", count=waiting, common=COMMON, columns="state, due, flags, unmet",
                                 values=wait, others=f"{WAITING_STATE}, "
                                 f"CASE WHEN n % 50 = 1 THEN {now} + 3600000000 END, 0, 0"))
    durations = bytes([0x60] + 30 * [1])
    rows = [(level, now // length * length - number * length, f"queue-{group}", f"kind-{group % 20}", 10, 0, 9, 1, 0, 2,
             0, durations, durations)
            for level, length, count in ((0, 60_000_000, 60), (1, 3_600_000_000, 24))
            for number in range(count) for group in range(GROUP_COUNT)]
    rows.append((2, 0, "*", "*", waiting + finished, 0, finished, 0, 0, 0, 0, None, None))
    places = ", ".join("?" for _ in rows[0])
    database.executemany(f"INSERT INTO headway_statistic ({STATISTICS}) VALUES ({places})", rows)
    database.execute("UPDATE headway_meta SET value = ? WHERE name IN ('job', 'position')", (waiting + finished,))
    database.execute("COMMIT")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def fill_postgres(server, url, waiting, finished, queues):
    """Fills the tables, which exist, and makes the server vacuum them, as it would in the course of time."""
    done = POSTGRES_VALUES.format(id="n", count=finished, attempt=1, queues=queues)
    wait = POSTGRES_VALUES.format(id=f"{finished} + n", count=waiting, attempt=0, queues=queues)
    server.psql(
        url, "SET synchronous_commit = off",
        POSTGRES_DONE.format(common=COMMON, values=done, state=DONE_STATE, count=finished,
                             history=HISTORY.replace("'", "''")),
        POSTGRES_WAITING.format(common=COMMON, values=wait, state=WAITING_STATE, count=waiting),
        POSTGRES_STATISTICS.format(columns=STATISTICS, groups=GROUP_COUNT, waiting=waiting, finished=finished),
        f"SELECT setval('headway.job_number', {waiting + finished}), setval('headway.position', {waiting + finished})",
        # While the commits are not on the disk, a vacuum can't mark pages as visible to all.
        "CHECKPOINT", "VACUUM ANALYZE headway.job", "VACUUM ANALYZE headway.done", "CHECKPOINT")


class Dashboard:
    """A dashboard that was started, and a browser that has logged in."""

    def __init__(self, program, store):
        self.process = subprocess.Popen([program, store], stdout=subprocess.PIPE, text=True)
        address = urllib.parse.urlsplit(self.process.stdout.readline().strip())
        self.connection = http.client.HTTPConnection(address.netloc)
        self.cookie = ""
        _, headers, _ = self.get(f"{address.path}?{address.query}")
        self.cookie = headers["Set-Cookie"].split(";")[0]

    def get(self, path):
        self.connection.request("GET", path, headers={"Cookie": self.cookie} if self.cookie else {})
        response = self.connection.getresponse()
        return response.status, response.headers, response.read()

    def stop(self):
        self.process.kill()
        self.process.wait()


def bench_dashboard(arguments):
    program = arguments.program or programs.build_swift("DashboardProgram")
    if arguments.postgres:
        return bench_postgres(arguments, program)
    with tempfile.TemporaryDirectory(dir=ROOT) as folder:
        store = arguments.store or os.path.join(folder, "jobs.sqlite")
        if not os.path.exists(store):
            Dashboard(program, store).stop()
            start = time.monotonic()
            fill(store, arguments.waiting, arguments.finished, arguments.queues)
            print(f"{arguments.waiting:,} waiting and {arguments.finished:,} finished jobs: "
                  f"{os.path.getsize(store) / 1e9:.1f} GB, filled in {time.monotonic() - start:.0f} s\n", flush=True)
        report(program, store, arguments.runs, "dashboard.json")


def bench_postgres(arguments, program):
    server = Server()
    try:
        url = server.fresh_store()
        Dashboard(program, url).stop()
        start = time.monotonic()
        fill_postgres(server, url, arguments.waiting, arguments.finished, arguments.queues)
        print(f"{arguments.waiting:,} waiting and {arguments.finished:,} finished jobs: "
              f"filled in {time.monotonic() - start:.0f} s\n", flush=True)
        report(program, url, arguments.runs, "dashboard-postgres.json")
    finally:
        server.stop()


def report(program, store, runs, name):
    """Measures the pages and exits if one is too slow or too large."""
    dashboard = Dashboard(program, store)
    try:
        results, sizes = measure(dashboard, runs)
    finally:
        dashboard.stop()
    slow = [path for path, times in results.items() if statistics.median(times) > LIMIT]
    os.makedirs(RESULTS, exist_ok=True)
    with open(os.path.join(RESULTS, name), "w") as file:
        json.dump(results, file, indent=1)
    large = [path for path, size in sizes.items() if size > SIZE_LIMIT]
    problems = ([f"more than {LIMIT * 1000:.0f} ms: {', '.join(slow)}"] if slow else [])
    problems += [f"more than {SIZE_LIMIT // 1000} kB: {', '.join(large)}"] if large else []
    if problems:
        sys.exit(f"script/bench dashboard: {'; '.join(problems)}")


def measure(dashboard, runs):
    """Prints the times of each page in seconds and its size in bytes as a table, and returns them."""
    results, sizes = {}, {}
    print("| page | first, ms | median, ms | longest, ms | kB |\n|---|---|---|---|---|")
    for path in PAGES:
        times, size = [], 0
        for _ in range(runs + 1):
            start = time.perf_counter()
            status, _, body = dashboard.get(path)
            times.append(time.perf_counter() - start)
            assert status == 200 and re.search(rb"</html>", body), (path, status)
            size = len(body)
        first, *times = times
        results[path], sizes[path] = times, size
        print(f"| `{path}` | {first * 1000:.1f} | {statistics.median(times) * 1000:.1f} | {max(times) * 1000:.1f} | "
              f"{size / 1000:.0f} |", flush=True)
    return results, sizes
