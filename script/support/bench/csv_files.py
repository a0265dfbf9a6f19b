"""`script/bench csv`: `CSVReader` next to Python's `csv` module, files in the page cache."""

import subprocess

from . import programs
from .paths import ROOT


def add_command(commands):
    command = commands.add_parser("csv", help="reading CSV next to Python's csv module", description=__doc__)
    command.add_argument("--runs", type=int, default=5)
    command.set_defaults(run=bench_csv)


def bench_csv(arguments):
    subprocess.run([f"{ROOT}/script/setup"], check=True)
    subprocess.run([programs.build_swift("CSVBenchmark"), str(arguments.runs)], check=True)
