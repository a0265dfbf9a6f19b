"""`script/bench lines`: `LineReader` next to a plain read and memchr loop and `readLine()`, files in the page cache."""

import subprocess

from . import programs
from .paths import ROOT


def add_command(commands):
    command = commands.add_parser("lines", help="reading by line next to memchr and readLine()", description=__doc__)
    command.add_argument("--runs", type=int, default=5)
    command.set_defaults(run=bench_lines)


def bench_lines(arguments):
    subprocess.run([f"{ROOT}/script/setup"], check=True)
    subprocess.run([programs.build_swift("LinesBenchmark"), str(arguments.runs)], check=True)
