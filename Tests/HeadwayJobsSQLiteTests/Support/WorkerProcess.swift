#if Jobs
import Foundation
import GRDB
import HeadwayJobsSQLite

/// A worker in its own process.
final class WorkerProcess: Sendable {
  private let identifier: pid_t
  private let ending: AsyncStream<Void>
  private let process: Process

  /// Starts `JobsCrashProgram`.
  init(_ path: String, role: String? = nil) throws {
    let process = Process()
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.executableURL = tests.deletingLastPathComponent().appending(path: "JobsCrashProgram")
    process.arguments = [path] + (role.map { [$0] } ?? [])
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    ending = stream
    process.terminationHandler = { _ in continuation.finish() }
    try process.run()
    identifier = process.processIdentifier
    self.process = process
  }

  deinit { if process.isRunning { send(SIGKILL) } }

  func send(_ signal: Int32) { Foundation.kill(identifier, signal) }

  /// Stops the process at a moment when it does not write, so that others can.
  func pause(store path: String) {
    let lock = open(path + "-headway/writer.lock", O_RDWR | O_CLOEXEC)
    defer { close(lock) }
    while true {
      send(SIGSTOP)
      var information = siginfo_t()
      // The process can run for a moment after the signal was sent.
      while waitid(P_PID, id_t(identifier), &information, WSTOPPED | WNOWAIT) != 0, errno == EINTR {}
      if flock(lock, LOCK_EX | LOCK_NB) == 0 {
        flock(lock, LOCK_UN)
        return
      }
      send(SIGCONT)
    }
  }

  /// Waits until the process has ended.
  func end() async { for await _ in ending {} }

  /// Kills the process and waits until it has ended.
  func kill() async {
    send(SIGKILL)
    await end()
  }

  var isRunning: Bool { process.isRunning }
}

/// Waits until a condition holds.
func poll(_ condition: () async throws -> Bool) async throws {
  while try await !condition() { await Task.yield() }
}

/// Opens the database of a store for an application that also accesses it directly.
func openPool(_ path: String, _ prepare: ((inout Configuration) -> Void)? = nil) throws -> DatabasePool {
  var configuration = Configuration()
  SQLiteJobStore.prepare(&configuration)
  configuration.busyMode = .timeout(60)
  prepare?(&configuration)
  return try DatabasePool(path: path, configuration: configuration)
}
#endif
