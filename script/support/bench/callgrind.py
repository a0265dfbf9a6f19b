"""Runs a workload under `valgrind --tool=callgrind`."""

import glob
import os
import subprocess
import sys


def profile(program, workload, operations, folder):
    """The files of a profile, one a thread, the first thread's first, with addresses and without abbreviations."""
    run([
        "valgrind", "--tool=callgrind", "--separate-threads=yes", "--compress-strings=no", "--dump-instr=yes",
        "--compress-pos=no", f"--callgrind-out-file={folder}/out", program, workload, "headway", str(operations),
    ])
    return sorted(glob.glob(f"{folder}/out-*"))


def run(command):
    """Runs a workload once."""
    environment = {**os.environ, "HEADWAY_BENCHMARK_SECONDS": "0"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"script/bench: {' '.join(command)}: {done.stderr[-500:]}")
