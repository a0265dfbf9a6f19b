#if PostgreSQL
import Foundation

/// A worker in its own process: `PostgresCrashProgram`.
final class WorkerProcess: Sendable {
  private let process: Process
  private let ending: AsyncStream<Void>

  /// Starts a worker.
  ///
  /// - Parameters:
  ///   - test: The store that the worker uses.
  ///   - connectionString: How the worker connects, if differently from the test.
  ///   - leaseSeconds: The length of the lease. It is short by default, so that tests need not wait long.
  ///   - launcher: The arguments of `env`, before those of the program: variables, or a program that executes another
  ///     program.
  /// - Throws: An error if the program can't be started.
  init(
    _ test: TestStore, connectionString: String? = nil, leaseSeconds: Int = 3, launcher: [String] = []
  ) throws {
    let process = Process()
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let program = tests.deletingLastPathComponent().appending(path: "PostgresCrashProgram").path
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = launcher + [program]
    process.environment = ProcessInfo.processInfo.environment.merging([
      "HEADWAY_STORE": connectionString ?? test.connectionString, "HEADWAY_SCHEMA": test.schema,
      "HEADWAY_LEASE_SECONDS": String(leaseSeconds),
    ]) { $1 }
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    ending = stream
    process.terminationHandler = { _ in continuation.finish() }
    try process.run()
    self.process = process
  }

  deinit { if process.isRunning { send(SIGKILL) } }

  /// Sends a signal to the process.
  func send(_ signal: Int32) { Foundation.kill(process.processIdentifier, signal) }

  /// Kills the process and waits until it has ended.
  func kill() async {
    send(SIGKILL)
    for await _ in ending {}
  }
}
#endif
