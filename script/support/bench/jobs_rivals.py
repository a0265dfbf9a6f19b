"""The queues that `script/bench jobs` compares: how they are installed and started, and what each does not promise."""

import glob
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

from . import programs
from .paths import BENCHMARKS, ROOT, WORKSHOP

SOURCES = f"{BENCHMARKS}/Jobs"
ENVIRONMENT = f"{WORKSHOP}/jobs-venv"
# On the disk of the repository: /tmp can be in memory.
STORES = f"{WORKSHOP}/jobs"


@dataclass
class Queue:
    name: str
    # Missing features, according to the source of the version in requirements.txt.
    promise: str
    command: list[str] | None = None


DBOS = "retries steps, not jobs; without Conductor, rescues only its own jobs, at launch"
PGQUEUER = "keeps a log of the states of ended jobs, but neither their data nor results"
# The other queues: the package, the module, what it does not do, and environment variables.
IN_FILES = {
    "huey": ("huey", "huey", "deletes a job when a worker takes it, so the job is lost if the process is killed"),
    "litequeue": ("litequeue", "litequeue",
                  "no worker or delays; retries and rescues only if the program calls for them"),
    "persist-queue": (
        "persist-queue", "persist_queue",
        "no worker or delays; retries only if the program calls for them; on opening, rescues even jobs that run"),
    "dbos": ("dbos", "dbos", DBOS),
}
ON_SERVER = {
    "pgqueuer": ("pgqueuer", "pgqueuer", PGQUEUER),
    "pgqueuer (batches of 100)": ("pgqueuer", "pgqueuer", PGQUEUER, "BATCH_SIZE=100"),
    "procrastinate": ("procrastinate", "procrastinate", "rescues the jobs of a killed worker only if the program calls for it"),
    "dbos": ("dbos", "dbos", DBOS),
}


def queues(is_on_server):
    """Installs and builds all queues. A queue that cannot run here has no command."""
    python = environment()
    result = {"headway": Queue("Headway", "", headway())}
    for name, (package, module, promise, *variables) in (ON_SERVER if is_on_server else IN_FILES).items():
        shown = subprocess.run([python, "-m", "pip", "show", "--quiet", package], capture_output=True)
        command = ["env", *variables, python, f"{SOURCES}/rival_{module}.py"] if shown.returncode == 0 else None
        result[name] = Queue(name, promise, command)
    return result


def headway():
    if os.path.isdir(f"{BENCHMARKS}/Sources/JobsBenchmark"):
        return [programs.build_swift("JobsBenchmark")]
    path = f"{ROOT}/.build/release/JobsBenchmark"
    return [path] if os.path.exists(path) else None


def environment():
    """Installs the rivals if requirements.txt has changed. Returns the path of their Python."""
    python, installed = f"{ENVIRONMENT}/bin/python", f"{ENVIRONMENT}/requirements.txt"
    requirements = f"{SOURCES}/requirements.txt"
    if os.path.exists(installed) and open(installed).read() == open(requirements).read():
        return python
    shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    subprocess.run([base_python(), "-m", "venv", ENVIRONMENT], check=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements]
    subprocess.run(install, check=True)
    shutil.copyfile(requirements, installed)
    return python


def base_python():
    """A Python that litequeue supports, of the system or of pyenv, or the one that runs this script."""
    folder = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    for version in ("3.12", "3.13", "3.14"):
        for path in [shutil.which(f"python{version}"), *glob.glob(f"{folder}/versions/{version}.*/bin/python3")]:
            # A command of pyenv fails unless its version is the selected one.
            if path and subprocess.run([path, "-c", "import ensurepip, sqlite3"], capture_output=True).returncode == 0:
                return path
    print("script/bench jobs: without litequeue, which needs Python 3.12", file=sys.stderr)
    return sys.executable


def fresh_store():
    """The path of a store that does not exist, in an empty folder."""
    shutil.rmtree(STORES, ignore_errors=True)
    os.makedirs(STORES)
    os.sync()  # Otherwise, the writes of the previous run would delay this one.
    return f"{STORES}/store.sqlite"


def trace(command):
    """Runs a benchmark without a warm-up under strace. Returns the numbers of syncs and of bytes written to logs."""
    if not shutil.which("strace"):
        return None
    store, output = fresh_store(), f"{STORES}/trace"
    calls = "openat,fsync,fdatasync,write,writev,pwrite64,pwritev"
    strace = ["strace", "-f", "--seccomp-bpf", "-y", "-s", "0", "-e", f"trace={calls}", "-o", output]
    try:
        done = subprocess.run([*strace, *command, "--store", store, "--warm-up", "0"], capture_output=True, timeout=120)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        return None
    text = open(output, errors="replace").read()
    measured = re.search(r'store\.sqlite\.begin"(.*)store\.sqlite\.end"', text, re.DOTALL)
    text = measured.group(1) if measured else text
    written = re.findall(r"pwrite64\(\d+<[^>]*-(?:wal|journal)>, .*?, (\d+), \d+", text)
    return len(re.findall(r" (?:fsync|fdatasync)\(", text)), sum(map(int, written))
