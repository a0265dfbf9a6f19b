// A job store that keeps its rows in a file. It uses only the interface that Headway offers to store authors. The
// program checks that the store follows the rules for all stores and survives crashes.

import Foundation
@_spi(JobStore) import HeadwayJobsTestKit

let arguments = CommandLine.arguments
if arguments.count == 4, arguments[1] == "add" {
  try await addJobs(to: arguments[2], from: Int(arguments[3]) ?? 0)
  exit(1)
}

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("headway-example-\(getpid())").path
defer { try? FileManager.default.removeItem(atPath: folder) }

/// Runs all checks, each with an empty store.
func findDefects(reloadInterval: Int?) async -> [String] {
  var defects: [String] = []
  for check in JobStoreConformance.checks {
    do {
      let fixture = try FileFixture(in: "\(folder)/checks", reloadInterval: reloadInterval)
      try await check.run(on: fixture)
      await fixture.file.close()
    } catch {
      defects.append("\(check.title): \(error)")
    }
  }
  return defects
}

let defects = await findDefects(reloadInterval: nil)
print(defects.isEmpty ? "The store follows all rules." : defects.joined(separator: "\n"))

let others = await findDefects(reloadInterval: 25)
print(
  others.isEmpty
    ? "A store that reads its journal again between requests follows them, too." : others.joined(separator: "\n"))

try await cutJournal(in: "\(folder)/cut")
print("If a crash cuts the last line of the journal, only the last transaction is missing.")

try await fillDisk(in: "\(folder)/full")
print("If the disk is full, transactions fail without an effect, and later ones succeed.")

let count = try await killProcesses(20, in: "\(folder)/kills")
print("20 processes were killed, and no job was lost: \(count >= 60)")
