import Dispatch
import Foundation

/// A folder for one test.
struct Workspace: Sendable {
  let folder: String

  fileprivate init() throws {
    folder = NSTemporaryDirectory() + "headway-import-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  fileprivate func remove() { try? FileManager.default.removeItem(atPath: folder) }

  func path(_ name: String) -> String { "\(folder)/\(name)" }

  /// Writes a file; returns its path.
  @discardableResult
  func write(_ text: String, to name: String) throws -> String { try write(Array(text.utf8), to: name) }

  @discardableResult
  func write(_ bytes: [UInt8], to name: String) throws -> String {
    try Data(bytes).write(to: URL(filePath: path(name)))
    return path(name)
  }

  func bytes(of name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path(name)))) }

  func move(_ name: String, to other: String) throws {
    try FileManager.default.moveItem(atPath: path(name), toPath: path(other))
  }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }
}

/// Calls `body` with a folder that is removed afterwards.
func withWorkspace<Answer>(_ body: (Workspace) throws -> Answer) throws -> Answer {
  let workspace = try Workspace()
  defer { workspace.remove() }
  return try body(workspace)
}

/// Calls `body` with a folder that is removed afterwards.
///
/// It runs on a thread of its own, so that what it holds at a gate need not wait until the other tests, which all want
/// the threads of Swift's pool, have ended.
func withWorkspace(_ body: (Workspace) async throws -> Void) async throws {
  let workspace = try Workspace()
  defer { workspace.remove() }
  try await withTaskExecutorPreference(OwnThread()) { try await body(workspace) }
}

private final class OwnThread: TaskExecutor {
  private let queue = DispatchQueue(label: "test")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
