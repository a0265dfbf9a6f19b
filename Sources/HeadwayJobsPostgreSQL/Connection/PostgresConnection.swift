#if PostgreSQL
import Headway
@_spi(JobStore) import HeadwayJobs
import Synchronization

// See Docs/decisions/0041-postgresql.md.

/// A thread with a connection to a server, which it opens when there is something to do, and again after a loss.
///
/// The thread executes requests one after another. A request that fails because the connection was lost is repeated on
/// the next connection, unless it might have been committed. While the server is unavailable, the pauses between the
/// attempts grow from 0.1 s to 30 s, with jitter, and each request fails when its time limit has expired.
final class PostgresConnection: Sendable {
  private struct State {
    var requests: [Request] = []
    var isRunning = false
    var isClosed = false
    var closers: [CheckedContinuation<Void, Never>] = []
  }

  /// A request for the connection.
  struct Request: Sendable {
    /// When the request fails if there is no connection.
    let end: ContinuousClock.Instant
    /// Whether the request can be executed again after the connection was lost before a commit.
    let isRepeatable: Bool
    /// Executes the request and returns the function that resumes the caller.
    let perform: @Sendable (PostgresSession) throws -> @Sendable () -> Void
    /// Resumes the caller with an error.
    let fail: @Sendable (any Error) -> Void
  }

  /// The tasks of the thread in addition to requests.
  struct Tasks: Sendable {
    /// Returns whether the connection must be open even without requests.
    var isWanted: @Sendable () -> Bool = { false }
    /// Called when a connection was opened.
    var opened: @Sendable (PostgresSession) throws -> Void = { _ in }
    /// Called after each wake-up.
    ///
    /// It returns when to call it again; nil if there is nothing to do.
    var work: @Sendable (PostgresSession) throws -> ContinuousClock.Instant? = { _ in nil }
    /// Called with the text of a notification.
    var received: @Sendable (String) -> Void = { _ in }
  }

  private let name: String
  private let settings: ConnectionSettings
  private let tasks: Tasks
  private let pipe: WakePipe
  private let state = Mutex(State())

  private static let shortestPause = 0.1
  private static let longestPause = 30.0

  init(name: String, _ settings: ConnectionSettings, tasks: Tasks = Tasks()) throws {
    self.name = name
    self.settings = settings
    self.tasks = tasks
    pipe = try WakePipe()
  }

  // MARK: Requests

  /// The time that a request waits while the server is unavailable.
  var requestLimit: Duration { settings.limits.request }

  /// The number of requests that have not ended.
  var load: Int { state.withLock { $0.requests.count } }

  /// Executes a function on the thread of the connection.
  ///
  /// - Parameters:
  ///   - isRepeatable: Whether the function can be called again after the connection was lost before a commit.
  ///   - body: A function that can block, and that uses the connection only while it runs.
  /// - Throws: The error of the function, or `JobError` if there is no connection.
  /// - Returns: The value of the function.
  func run<Answer: Sendable>(
    isRepeatable: Bool = true, _ body: @escaping @Sendable (PostgresSession) throws -> Answer
  ) async throws -> Answer {
    try await withCheckedThrowingContinuation { continuation in
      add(
        Request(
          end: ContinuousClock.now + settings.limits.request, isRepeatable: isRepeatable,
          perform: { session in
            let answer = try body(session)
            return { continuation.resume(returning: answer) }
          }, fail: { continuation.resume(throwing: $0) }))
    }
  }

  /// Adds a request.
  func add(_ request: Request) {
    let (isAccepted, mustStart) = state.withLock { state in
      guard !state.isClosed else { return (false, false) }
      state.requests.append(request)
      defer { state.isRunning = true }
      return (true, !state.isRunning)
    }
    guard isAccepted else {
      request.fail(JobError(.storeFailed, "The store of jobs was closed. Nothing was changed."))
      return
    }
    if mustStart { start() } else { pipe.wake() }
  }

  /// Makes the thread check for work and starts it if necessary.
  func wake() {
    let mustStart = state.withLock { state in
      guard !state.isClosed else { return false }
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if mustStart { start() } else { pipe.wake() }
  }

  /// Executes the pending requests and closes the connection.
  func close() async {
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        state.isClosed = true
        if state.isRunning { state.closers.append(continuation) }
        return !state.isRunning
      }
      if isDone { continuation.resume() } else { pipe.wake() }
    }
  }

  /// Makes the thread end without waiting for it.
  func abandon() {
    state.withLock { $0.isClosed = true }
    pipe.wake()
  }

  private func start() {
    let code = startThread(named: name) {
      var loop = ConnectionLoop(self)
      loop.run()
    }
    guard code != 0 else { return }
    let failed = state.withLock { state in
      state.isRunning = false
      defer { state.requests = [] }
      return state.requests
    }
    let error = JobError(.storeFailed, "No thread can be started: \(systemMessage(code)).")
    for request in failed { request.fail(error) }
  }

  // MARK: The thread

  /// The loop of the thread, with its session.
  private struct ConnectionLoop {
    private let owner: PostgresConnection
    private var session: PostgresSession?
    /// The number of attempts in a row that have failed: to connect, or to use a new connection.
    private var failures = 0
    /// Whether something has succeeded on the connection.
    private var hasWorked = false
    private var nextAttempt = ContinuousClock.now
    private var lastError: any Error = PostgresError.lost("There is no connection.")

    init(_ owner: PostgresConnection) { self.owner = owner }

    mutating func run() {
      while true {
        var wakeTime: ContinuousClock.Instant?
        let (request, isClosed) = owner.state.withLock { ($0.requests.first, $0.isClosed) }
        if request == nil, isClosed { break }
        if request != nil || (owner.tasks.isWanted() && !isClosed) { connectIfDue() }
        if let session {
          if let request {
            execute(request, session)
            if self.session != nil { serve(session, &wakeTime) }
            continue
          }
          serve(session, &wakeTime)
        } else if request != nil || owner.tasks.isWanted() {
          wakeTime = min(wakeTime ?? nextAttempt, nextAttempt)
          if let end = failExpired() { wakeTime = min(wakeTime ?? end, end) }
        }
        wait(until: wakeTime)
      }
      session = nil
      let closers = owner.state.withLock { state in
        state.isRunning = false
        defer { state.closers = [] }
        return state.closers
      }
      for closer in closers { closer.resume() }
    }

    private mutating func connectIfDue() {
      guard session == nil, ContinuousClock.now >= nextAttempt else { return }
      do {
        let opened = try PostgresSession(owner.settings, after: failures)
        try owner.tasks.opened(opened)
        session = opened
      } catch {
        fail(error)
      }
    }

    private mutating func fail(_ error: any Error) {
      failures += 1
      lastError = error
      let pause = min(longestPause, shortestPause * Double(1 << min(failures - 1, 20)))
      nextAttempt = ContinuousClock.now + .seconds(Double.random(in: pause / 2...pause))
    }

    private mutating func succeed() { (failures, hasWorked) = (0, true) }

    /// Ends requests that have waited too long for a connection.
    ///
    /// - Returns: When the next one has waited too long.
    private func failExpired() -> ContinuousClock.Instant? {
      let now = ContinuousClock.now
      let (expired, next) = owner.state.withLock { state in
        let expired = state.requests.filter { $0.end <= now }
        state.requests.removeAll { $0.end <= now }
        return (expired, state.requests.map(\.end).min())
      }
      let error = JobError(
        .storeFailed,
        "The PostgreSQL server is unavailable: \(lastError). Nothing was changed.", underlyingError: lastError)
      for request in expired { request.fail(error) }
      return next
    }

    private mutating func execute(_ request: Request, _ session: PostgresSession) {
      // The code of a request can ignore the error.
      defer { if let loss = session.loss { lose(loss) } else { succeed() } }
      do {
        let resume = try request.perform(session)
        remove()
        resume()
      } catch is NotBegun where ContinuousClock.now < request.end {
        // It begins on the next connection.
      } catch let error as PostgresError where error.isConnectionLost {
        if !request.isRepeatable || ContinuousClock.now >= request.end {
          remove()
          request.fail(JobError(error, "Nothing was changed."))
        }
      } catch {
        session.forgetDeferred()
        remove()
        request.fail(error is PostgresError ? JobError(error, "Nothing was changed.") : error)
      }
    }

    /// Removes the first request, which has ended.
    private func remove() {
      // It is released after the lock.
      _ = owner.state.withLock { $0.requests.removeFirst() }
    }

    private mutating func lose(_ error: any Error) {
      session = nil
      guard hasWorked else { return fail(error) }
      hasWorked = false
      lastError = error
      // The first attempt is immediate, because often only this connection was lost.
      nextAttempt = ContinuousClock.now
    }

    private mutating func serve(_ session: PostgresSession, _ wakeTime: inout ContinuousClock.Instant?) {
      do {
        if let time = try owner.tasks.work(session) { wakeTime = min(wakeTime ?? time, time) }
        try session.receive()
        for text in session.takeNotifications() { owner.tasks.received(text) }
        succeed()
      } catch let error as PostgresError where !error.isConnectionLost {
        session.forgetDeferred()
        let time = ContinuousClock.now + .seconds(1)
        wakeTime = min(wakeTime ?? time, time)
      } catch {
        lose(error)
        wakeTime = ContinuousClock.now
      }
    }

    private func wait(until time: ContinuousClock.Instant?) {
      owner.pipe.wait(for: session?.descriptor, upTo: time.map { $0 - ContinuousClock.now })
    }
  }
}
#endif
