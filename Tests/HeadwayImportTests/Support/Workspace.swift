import Dispatch
import Foundation
import HeadwayTestSupport

/// A folder for one test, which is removed with the value.
struct Workspace: Sendable {
  private let temporary: TemporaryFolder

  fileprivate init() throws { temporary = try TemporaryFolder() }

  var folder: String { temporary.path }

  func path(_ name: String) -> String { "\(folder)/\(name)" }

  /// Writes a file; returns its path.
  @discardableResult
  func write(_ text: String, to name: String) throws -> String { try temporary.write(text, to: name) }

  @discardableResult
  func write(_ bytes: [UInt8], to name: String) throws -> String { try temporary.write(bytes, to: name) }

  func bytes(of name: String) throws -> [UInt8] { Array(try temporary.bytes(of: name)) }

  func move(_ name: String, to other: String) throws {
    try FileManager.default.moveItem(atPath: path(name), toPath: path(other))
  }

  func exists(_ name: String) -> Bool { temporary.has(name) }
}

/// Calls `body` with a folder that is removed afterwards.
func withWorkspace<Answer>(_ body: (Workspace) throws -> Answer) throws -> Answer {
  let workspace = try Workspace()
  defer { withExtendedLifetime(workspace) {} }
  return try body(workspace)
}

/// Calls `body` with a folder that is removed afterwards.
///
/// It runs on a separate thread. Otherwise, a part that waits at a gate would wait for the other tests to end, because
/// they all need the threads of Swift's pool.
func withWorkspace(_ body: (Workspace) async throws -> Void) async throws {
  let workspace = try Workspace()
  defer { withExtendedLifetime(workspace) {} }
  try await withTaskExecutorPreference(OwnThread()) { try await body(workspace) }
}

private final class OwnThread: TaskExecutor {
  private let queue = DispatchQueue(label: "test")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
