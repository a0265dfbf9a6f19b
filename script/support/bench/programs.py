"""Builds the programs that measure: one in Swift for Headway and the rivals in Swift, one for each rival in C++."""

import os
import shutil
import subprocess
import sys

from .paths import BENCHMARKS, ROOT, WORKSHOP

# The rivals in C++: the header that shows that one is installed, and the libraries to link.
LIBRARIES = {
    "onetbb": ("oneapi/tbb/flow_graph.h", ["-ltbb"]),
    "taskflow": ("taskflow/taskflow.hpp", []),
}


def build():
    """The path of each rival's program, by rival; rivals that cannot be built here are missing."""
    subprocess.run([f"{ROOT}/script/setup"], check=True)
    subprocess.run([f"{ROOT}/script/setup", "bench"])  # Only for rivals that may be missing.
    swift = build_swift()
    rivals = ("headway", "foundation", "dispatch", "tasks", "detached-tasks", "pool")
    programs = {rival: [swift, "{workload}", rival] for rival in rivals}
    for rival in LIBRARIES:
        path = build_cplusplus(rival)
        if path:
            programs[rival] = [path, "{workload}"]
    return programs


def build_swift(product="SchedulerBenchmark", root=ROOT):
    """Builds a program of the package for release and returns its path."""
    command = ["swift", "build", "--package-path", root, "-c", "release", "--traits", "Tool", "--product", product]
    # Package.swift has the benchmarks only if this is set. script/build and .ci/run say why the other is.
    environment = {**os.environ, "HEADWAY_BENCHMARKS": "1", "SWIFT_DETERMINISTIC_HASHING": "1"}
    subprocess.run([*command, "--quiet"], check=True, env=environment)
    folder = subprocess.run([*command, "--show-bin-path"], check=True, capture_output=True, text=True, env=environment)
    return f"{folder.stdout.strip()}/{product}"


def build_cplusplus(rival):
    """Headers are looked for in the system's folders and in those that CPLUS_INCLUDE_PATH names."""
    header, libraries = LIBRARIES[rival]
    folders = [*os.environ.get("CPLUS_INCLUDE_PATH", "").split(":"), "/usr/include", "/usr/local/include"]
    if not shutil.which("c++") or not any(folder and os.path.exists(f"{folder}/{header}") for folder in folders):
        print(f"script/bench: without {rival}, whose headers are not here", file=sys.stderr)
        return None
    os.makedirs(WORKSHOP, exist_ok=True)
    path, sources = f"{WORKSHOP}/{rival}", [f"{BENCHMARKS}/CPlusPlus/{rival}.cpp", f"{BENCHMARKS}/CPlusPlus/workloads.hpp"]
    if os.path.exists(path) and all(os.path.getmtime(path) > os.path.getmtime(source) for source in sources):
        return path
    command = ["c++", "-std=c++20", "-O3", "-DNDEBUG", "-pthread", sources[0], "-o", path, *libraries]
    if subprocess.run(command).returncode != 0:
        print(f"script/bench: without {rival}, which did not build", file=sys.stderr)
        return None
    return path
