"""Where things are."""

import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BENCHMARKS = f"{ROOT}/Benchmarks"
# What was measured last; not in the repository.
RESULTS = f"{BENCHMARKS}/results"
# What the scripts build and install for themselves.
WORKSHOP = f"{ROOT}/.build/bench"
