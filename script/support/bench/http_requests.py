"""`script/bench http`: a large file to the disk, and many small requests with 64 at a time, next to AsyncHTTPClient
itself, `URLSession` of Foundation and `curl`. The server is nginx on loopback, with one process. All in one run; the
files are in memory (`/dev/shm`), so that no disk is measured. Time and memory are those of the whole process."""

import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import tempfile
import time

from . import programs
from .paths import ROOT

JOBS = 64
SMALL_BYTES = 1024


def add_command(commands):
    command = commands.add_parser("http", help="a large file and small requests next to others", description=__doc__)
    command.add_argument("--megabytes", type=int, default=1024)
    command.add_argument("--requests", type=int, default=20_000)
    command.add_argument("--runs", type=int, default=5)
    command.set_defaults(run=bench_http)


def build():
    """Builds the benchmarks for release; gives their paths."""
    return programs.build_swift("HTTPBenchmark"), programs.build_swift("URLSessionBenchmark")


class Server:
    """nginx with a large file and a small answer."""

    def __init__(self, folder, megabytes):
        piece = os.urandom(1 << 20)
        with open(folder / "large", "wb") as file:
            for _ in range(megabytes):
                file.write(piece)
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port = listener.getsockname()[1]
        configuration = folder / "nginx.conf"
        configuration.write_text(f"""
            daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/errors;
            events {{ worker_connections 1024; }}
            http {{
              access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000;
              server {{
                listen 127.0.0.1:{self.port}; root {folder};
                location = /small {{ default_type text/plain; return 200 "{'x' * SMALL_BYTES}"; }}
              }}
            }}""")
        self.process = subprocess.Popen(
            [shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"), "-p", folder, "-c", configuration],
            stderr=subprocess.DEVNULL)

    def url(self, path):
        return f"http://127.0.0.1:{self.port}/{path}"

    def wait(self):
        while subprocess.run(["curl", "-sf", "-o", os.devnull, self.url("small")]).returncode != 0:
            if self.process.poll() is not None:
                raise SystemExit("script/bench http: nginx does not run")
            time.sleep(0.05)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def measured(command):
    """Runs a command; gives its seconds, those of processors, and its memory at most in MB."""
    start = time.monotonic()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"script/bench http: {command[0]} ended with {process.returncode}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def table(title, ways, runs, check=lambda: None):
    """Measures all ways in turn, prints their medians, and the ratios to the first."""
    results = {name: [] for name, _ in ways}
    for _ in range(runs):
        for name, command in ways:
            results[name].append(measured(command))
            check()
    medians = {name: [statistics.median(values) for values in zip(*measures)] for name, measures in results.items()}
    ours = medians[ways[0][0]][0]
    print(f"\n| {title} | s | ratio | processor s | MB |\n|---|---|---|---|---|")
    for name, (seconds, work, memory) in medians.items():
        print(f"| {name} | {seconds:.2f} | {seconds / ours:.2f} | {work:.2f} | {memory:.0f} |")


def bench_http(arguments):
    subprocess.run([f"{ROOT}/script/setup", "bench"], check=True)
    benchmark, url_session = build()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)  # nginx, started by root, reads as another user.
        server = Server(folder, arguments.megabytes)
        try:
            server.wait()
            file, large, small = folder / "file", server.url("large"), server.url("small")

            def check_file():
                if file.stat().st_size != arguments.megabytes << 20:
                    raise SystemExit("script/bench http: the file is not whole")
                file.unlink()

            table(f"{arguments.megabytes} MB to a file", [
                ("Headway, `DownloadOperation`", [benchmark, "headway", "file", large, file]),
                ("AsyncHTTPClient, `FileDownloadDelegate`", [benchmark, "client", "file", large, file]),
                ("Foundation, `URLSession`", [url_session, "file", large, file]),
                ("`curl`", ["curl", "-s", "-o", file, large]),
            ], arguments.runs, check_file)
            count, jobs = str(arguments.requests), str(JOBS)
            table(f"{arguments.requests:,} answers of {SMALL_BYTES} bytes, {JOBS} at a time", [
                ("Headway, `RequestOperation`", [benchmark, "headway", "small", small, count, jobs]),
                ("AsyncHTTPClient, a task each", [benchmark, "client", "small", small, count, jobs]),
                ("Foundation, `URLSession`", [url_session, "small", small, count, jobs]),
                ("`curl -Z`", [
                    "curl", "-sZ", "--no-progress-meter", "--parallel-max", jobs, "-o", os.devnull, f"{small}?[1-{count}]"]),
            ], arguments.runs)
        finally:
            server.stop()
