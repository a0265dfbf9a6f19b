"""Where things are."""

import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PACKAGE = f"{ROOT}/Benchmarks"
# What was measured last; not in the repository.
RESULTS = f"{PACKAGE}/results"
# What the scripts build and install for themselves.
WORKSHOP = f"{PACKAGE}/.build/bench"
