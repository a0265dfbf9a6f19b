import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayTestKit
import Synchronization

struct Sum: Job {
  static let kind: JobKind = "sum"
  static let aliases: [JobKind] = ["addition"]
  var left: Int
  var right: Int
  func perform(in context: JobContext) async throws -> Int { left + right }
}

/// A type with the kind of another one.
struct Twin: Job {
  static let kind: JobKind = "sum"
  func perform(in context: JobContext) async throws {}
}

struct Greeting: Job {
  static let kind: JobKind = "greeting"
  static let version = 2
  var name: String

  init(migrating payload: JobPayload, from version: Int) throws { name = try payload.decode(String.self) }

  func perform(in context: JobContext) async throws -> String { "Hello, \(name)" }
}

struct Blocking: OperationJob {
  static let kind: JobKind = "blocking"
  var fails: Bool
  func makeOperation(in context: JobContext) -> Operation {
    BlockOperation { if fails { throw TestError(text: "operation") } }
  }
}

struct Flaky: Job {
  static let kind: JobKind = "flaky"
  var failureCount: Int
  func perform(in context: JobContext) async throws {
    if context.attempt <= failureCount { throw TestError() }
  }
}

struct Signalling: Job {
  static let kind: JobKind = "signalling"
  var signal: String
  func perform(in context: JobContext) async throws {
    if signal == "discard" { throw JobOutcome.discard("useless") }
    if context.job.snoozeCount < 2 { throw JobOutcome.snooze(.seconds(5)) }
  }
}

/// Adds its name to the log of the test that runs it.
struct Logged: Job {
  static let kind: JobKind = "logged"
  var name: String
  func perform(in context: JobContext) async throws { Log.current.append(name) }
}

/// Waits until it is cancelled, then throws an error or returns.
struct Patient: Job {
  static let kind: JobKind = "patient"
  var outcome = "throw"
  func perform(in context: JobContext) async throws {
    Log.current.append("begun \(context.attempt)")
    let bell = Bell()
    await bell.wait()
    if context.isCancelled { Log.current.append("cancelled") }
    if outcome == "throw" { throw CancellationError() }
    if outcome == "error" { throw TestError(text: "interrupted") }
  }
}

/// Ignores its cancellation and returns when the test permits it.
struct Stubborn: Job {
  static let kind: JobKind = "stubborn"
  func perform(in context: JobContext) async throws {
    Log.current.append("begun")
    await Log.current.wait(for: "go on")
  }
}

/// Suspends a task until it is cancelled.
final class Bell: Sendable {
  func wait() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    await withTaskCancellationHandler {
      for await _ in stream {}
    } onCancel: {
      continuation.finish()
    }
  }
}

/// A log of what the jobs of a test have done.
///
/// Tasks of operations have the task-local values of the code that creates them.
final class Log: Sendable {
  @TaskLocal static var current = Log()

  private let state = Mutex<[String]>([])

  func append(_ entry: String) { state.withLock { $0.append(entry) } }

  var entries: [String] { state.withLock { $0 } }

  func wait(for entry: String) async { while !entries.contains(entry) { await Task.yield() } }
}

/// Returns an operation that is used elsewhere.
struct Reusing: OperationJob {
  static let kind: JobKind = "reusing"
  @TaskLocal static var operation = Operation()
  func makeOperation(in context: JobContext) -> Operation { Self.operation }
}

/// Cancels a child task in its first attempt, as a time limit does, and throws the error of the task.
struct Racing: Job {
  static let kind: JobKind = "racing"
  func perform(in context: JobContext) async throws {
    guard context.attempt == 1 else { return }
    let child = Task { try await Task.sleep(for: .seconds(3_600)) }
    child.cancel()
    try await child.value
  }
}

/// Throws the error of a cancelled task in its own operation.
struct RacingOperation: OperationJob {
  static let kind: JobKind = "racing operation"
  func makeOperation(in context: JobContext) -> Operation {
    BlockOperation { if context.attempt == 1 { throw CancellationError() } }
  }
}
