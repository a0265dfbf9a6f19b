"""Which files and functions of the core one operation executes: counted by coverage, in a debug build of a consumer."""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

# The work of the probe, after it has done the same once to warm up.
ADDITIONS = {
    "block": "queue.addOperation {}",
    "task": "_ = queue.addTask { 1 }",
    "retry": "_ = queue.addTask(.retry(.exponential(maxAttemptCount: 2, initialDelay: .milliseconds(1)))) { attempt in\n"
             "    if attempt == 1 { throw CancelledOnce() }\n  }",
}
# Only debug builds execute it.
CHECKS = "Admission+Invariants.swift"

MANIFEST = """// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Probe",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Headway", path: "{root}")],
  targets: [
    .target(name: "CProfile"),
    .executableTarget(name: "Probe", dependencies: ["CProfile", .product(name: "Headway", package: "Headway")]),
  ]
)
"""
HEADER = """
// Functions of the runtime library for coverage.
void __llvm_profile_reset_counters(void);
int __llvm_profile_write_file(void);
"""
PROGRAM = """import CProfile
import Headway

struct CancelledOnce: Error {{}}

let queue = OperationQueue()

func add() async throws {{
  {addition}
  try await queue.untilAllOperationsAreFinished()
  // Then the threads leave the queue.
  try await Task.sleep(for: .milliseconds(300))
}}

try await add()
__llvm_profile_reset_counters()
{addition}
try await Task.sleep(for: .milliseconds(300))
_ = __llvm_profile_write_file()
"""


def way(root, kind):
    """The executed functions of each file of the core, by its path, without checks that only debug builds execute."""
    tools = pathlib.Path(shutil.which("swiftc")).resolve().parent
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "Sources" / "Probe").mkdir(parents=True)
        (folder / "Sources" / "CProfile" / "include").mkdir(parents=True)
        (folder / "Package.swift").write_text(MANIFEST.format(root=root))
        (folder / "Sources" / "CProfile" / "include" / "CProfile.h").write_text(HEADER)
        (folder / "Sources" / "CProfile" / "empty.c").write_text("")
        (folder / "Sources" / "Probe" / "main.swift").write_text(PROGRAM.format(addition=ADDITIONS[kind]))
        build = ["swift", "build", "--package-path", folder, "--scratch-path", folder / "build", "--product", "Probe",
                 "-Xswiftc", "-profile-generate", "-Xswiftc", "-profile-coverage-mapping"]
        subprocess.run([*build, "--quiet"], check=True)
        program = folder / "build" / "debug" / "Probe"
        environment = {**os.environ, "LLVM_PROFILE_FILE": str(folder / "raw")}
        subprocess.run([program], check=True, env=environment)
        subprocess.run([tools / "llvm-profdata", "merge", folder / "raw", "-o", folder / "data"], check=True)
        exported = subprocess.run(
            [tools / "llvm-cov", "export", program, "-instr-profile", folder / "data"], check=True, capture_output=True)
    sources = pathlib.Path(root) / "Sources" / "Headway"
    found = collections.defaultdict(set)
    for function in json.loads(exported.stdout)["data"][0]["functions"]:
        path = pathlib.Path(function["filenames"][0])
        if function["count"] > 0 and sources in path.parents and path.name != CHECKS:
            found[path.relative_to(sources)].add(function["name"])
    return found
