"""Where things are."""

import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BENCHMARKS = f"{ROOT}/Benchmarks"
# The latest measurements; not in the repository.
RESULTS = f"{BENCHMARKS}/results"
# Builds and installations of the scripts.
WORKSHOP = f"{ROOT}/.build/bench"
