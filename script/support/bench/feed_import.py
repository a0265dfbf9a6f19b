"""`script/bench import`: `headway import` of a generated feed next to `.import` of the sqlite3 shell.

The same files into the same tables, with the same keys, and the same indices after loading. Runs alternate; the medians
count. Headway also shows progress (as JSON to nowhere) and commits every 250 rows; sqlite3 commits once a table.

With --yardsticks, in a Python environment of their own: Python's csv and sqlite3 modules, into the same tables, and
sqlite-utils, into tables that it makes; and, into its own format, DuckDB, all columns as text.
"""

import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

from . import programs
from .paths import ROOT, WORKSHOP


def add_command(commands):
    command = commands.add_parser("import", help="bulk import next to sqlite3's .import", description=__doc__)
    command.add_argument("--stop-times", type=int, default=3_000_000)
    command.add_argument("--runs", type=int, default=5)
    command.add_argument("--batch-size", type=int, default=250)
    command.add_argument("--yardsticks", action="store_true", help="Python, sqlite-utils and DuckDB, too")
    command.set_defaults(run=bench_import)


def build():
    subprocess.run([f"{ROOT}/script/setup"], check=True)
    return programs.build_swift("headway")


def measure(command, standard_input=None):
    """Seconds and peak memory (MB) of a process."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    if standard_input:
        process.stdin.write(standard_input.encode())
    process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    if status != 0:
        sys.exit(f"script/bench: {command[0]} ended with status {status}")
    return seconds, usage.ru_maxrss / 1024


def remove(database):
    for ending in ("", "-wal", "-shm", "-journal", ".wal"):
        if os.path.exists(database + ending):
            os.remove(database + ending)
    shutil.rmtree(database + ".rejected-rows", ignore_errors=True)


def rows_in(database):
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    # Except the table with the tool's history of imports.
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'grdb_headway_imports'")
    names = [name for (name,) in names]
    rows = {name: connection.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()[0] for name in names}
    connection.close()
    return rows


def shell_script(database, feed):
    """The input of the sqlite3 shell: the tables of `database`, the files of `feed`, and the indices at the end."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    statements = connection.execute(
        """SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name <> 'grdb_headway_imports'
           ORDER BY rootpage""")
    statements = statements.fetchall()
    connection.close()
    lines = [sql + ";" for kind, _, sql in statements if kind == "table"]
    lines.append(".mode csv")
    lines += [f".import --skip 1 '{feed}/{name}.txt' {name}" for kind, name, _ in statements if kind == "table"]
    lines += [sql + ";" for kind, _, sql in statements if kind == "index"]
    return "\n".join(lines) + "\n"


BY_PYTHON = """
import csv, sqlite3, sys
database, feed, script = sys.argv[1:]
connection = sqlite3.connect(database)
for statement in open(script).read().splitlines():
    if not statement.startswith(".import"):
        if not statement.startswith("."):
            connection.execute(statement)
        continue
    table = statement.split()[-1]
    with open(f"{feed}/{table}.txt", newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file)
        places = ", ".join("?" * len(next(rows)))
        with connection:
            connection.executemany(f'INSERT INTO "{table}" VALUES ({places})', rows)
connection.close()
"""

BY_DUCKDB = """
import duckdb, glob, os, sys
database, feed = sys.argv[1:]
connection = duckdb.connect(database)
for file in sorted(glob.glob(f"{feed}/*.txt")):
    table = os.path.splitext(os.path.basename(file))[0]
    connection.execute(f'CREATE TABLE "{table}" AS SELECT * FROM read_csv(?, all_varchar = true)', [file])
connection.close()
"""


def yardsticks(folder, feed, script):
    """The other programs: a label, a command and the database that it makes, each."""
    environment = f"{WORKSHOP}/yardsticks"
    if not os.path.exists(f"{environment}/bin/sqlite-utils"):
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        subprocess.run([f"{environment}/bin/pip", "install", "--quiet", "duckdb", "sqlite-utils"], check=True)
    statements = f"{folder}/statements.sql"
    with open(statements, "w") as file:
        file.write(script)
    python = f"{environment}/bin/python"
    database = f"{folder}/yardstick"
    inserts = [
        f"{environment}/bin/sqlite-utils insert {database} {os.path.splitext(name)[0]} {feed}/{name} --csv --silent"
        for name in sorted(os.listdir(feed))]
    return {
        "python": ("Python's `csv` and `sqlite3`", [python, "-c", BY_PYTHON, database, feed, statements], database),
        "sqlite-utils": ("`sqlite-utils insert`", ["sh", "-c", " && ".join(inserts)], database),
        "duckdb": ("DuckDB, its own format, all text", [python, "-c", BY_DUCKDB, database, feed], database),
    }


def bench_import(arguments):
    headway = build()
    with tempfile.TemporaryDirectory() as folder:
        feed = f"{folder}/feed"
        subprocess.run([headway, "sample", feed, "--stop-times", str(arguments.stop_times)], check=True)
        size = sum(os.path.getsize(f"{feed}/{name}") for name in os.listdir(feed)) / 1e6
        ours, theirs = f"{folder}/headway.sqlite", f"{folder}/shell.sqlite"
        command = [headway, "import", feed, ours, "--progress", "json", "--batch-size", str(arguments.batch_size)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        script = shell_script(ours, feed)
        programs = {
            "headway": ("`headway import`", command, ours, None),
            "sqlite3": ("`sqlite3 .import`", ["sqlite3", theirs], theirs, script),
        }
        if arguments.yardsticks:
            for name, program in yardsticks(folder, feed, script).items():
                programs[name] = (*program, None)
        measured = {name: [] for name in programs}
        for _ in range(arguments.runs):
            for name, (_, command, database, standard_input) in programs.items():
                remove(database)
                os.sync()  # What the run before left to be written would slow this one.
                measured[name].append(measure(command, standard_input))
        if rows_in(ours) != rows_in(theirs):
            sys.exit("script/bench: the two databases do not have the same number of rows")
        rows = sum(rows_in(ours).values())
    median = {name: statistics.median(seconds for seconds, _ in runs) for name, runs in measured.items()}
    batches = f"batches of {arguments.batch_size}; median of {arguments.runs} runs"
    print(f"\n{rows:,} rows, {size:.0f} MB of CSV, {batches}\n")
    print("| | seconds (fastest – slowest) | rows per second | peak memory | ratio |")
    print("|---|---|---|---|---|")
    for name, (label, *_) in programs.items():
        seconds = [second for second, _ in measured[name]]
        memory = max(megabytes for _, megabytes in measured[name])
        print(
            f"| {label} | {median[name]:.2f} ({min(seconds):.2f} – {max(seconds):.2f}) | {rows / median[name]:,.0f} "
            f"| {memory:.0f} MB | {median['sqlite3'] / median[name]:.2f} |")
    print(f"\nBefore the first row, `headway` takes {measure([headway, '--version'])[1]:.0f} MB.")
