import CHeadwayTestSupport
import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Terminates a process whose tests hang, after printing what everything in it waits for.
///
/// A process hangs if tests are running and, for ten minutes, none has begun, ended or recorded any progress;
/// `HEADWAY_HANG_SECONDS` sets another time. The watchdog counts its own naps, not the time of day. It does not mistake
/// a stopped process, or a machine that slept, for a hang. Naps during which the process computes count a third: a slow
/// machine can need long for one test, and a test that spins forever is still detected.
///
/// Exit tests run in their own processes. Those have a watchdog from the start, with a quarter of the time but at least
/// 30 seconds, so that the process that hangs is the first to report the reason.
package final class Watchdog: Sendable {
  /// The watchdog of this process.
  package static let shared = Watchdog()

  private struct State {
    /// The running tests, by number.
    var running: [Int: String] = [:]
    var lastNumber = 0
    /// The latest recorded progress, by test.
    var notes: [String: String] = [:]
    var quiet = Quiet()
    var isWatching = false
  }

  /// For how long nothing has happened.
  private struct Quiet {
    private static let nap: UInt32 = 5

    private var processorTime: UInt64 = 0
    private(set) var seconds = 0.0

    mutating func noteProgress() { seconds = 0 }

    /// Counts a completed nap.
    mutating func addNap() {
      var time = timespec()
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
      let now = UInt64(time.tv_sec) * 1_000 + UInt64(time.tv_nsec) / 1_000_000
      // More than a twentieth of the nap: a process that merely waits, or polls occasionally, uses less.
      let computes = now - processorTime > UInt64(Self.nap) * 50
      processorTime = now
      seconds += Double(Self.nap) / (computes ? 3 : 1)
    }

    static func takeNap() { sleep(nap) }
  }

  // Protected by its lock; nothing is called while the lock is held.
  private let state = Mutex(State())
  private let limit = getenv("HEADWAY_HANG_SECONDS").flatMap { Double(String(cString: $0)) } ?? 600
  /// The limit for an exit test: some wait for seconds until the pool terminates its threads.
  private var exitTestLimit: Double { max(limit / 4, 30) }

  /// Records that a test begins.
  ///
  /// - Parameter name: The name of the test.
  /// - Returns: A number for ``end(_:)``.
  package func begin(_ name: String) -> Int {
    let (number, isFirst) = state.withLock { state in
      state.lastNumber += 1
      state.running[state.lastNumber] = name
      state.quiet.noteProgress()
      defer { state.isWatching = true }
      return (state.lastNumber, !state.isWatching)
    }
    if isFirst { detachThread { Watchdog.shared.watch() } }
    return number
  }

  /// Records that a test ends.
  ///
  /// - Parameter number: The number that ``begin(_:)`` returned.
  package func end(_ number: Int) {
    state.withLock { state in
      state.running[number] = nil
      state.quiet.noteProgress()
    }
  }

  /// Records that a long test makes progress.
  ///
  /// - Parameters:
  ///   - name: Which test makes progress.
  ///   - progress: How far it is, for instance its seed.
  package func note(_ name: String, _ progress: String) {
    state.withLock { state in
      state.notes[name] = progress
      state.quiet.noteProgress()
    }
  }

  private func watch() {
    while true {
      Quiet.takeNap()
      let hangs = state.withLock { state in
        state.quiet.addNap()
        if state.running.isEmpty { state.quiet.noteProgress() }
        return state.quiet.seconds >= limit
      }
      if hangs { abort(after: "no test has begun, ended or noted any progress for \(Int(limit)) seconds") }
    }
  }

  /// Watches over a process that runs one exit test.
  ///
  /// It also terminates a process whose parent has ended. No process waits for it, and it would continue to hold
  /// inherited resources, including file locks.
  fileprivate func watchExitTest() {
    detachThread { [limit = exitTestLimit, parent = getppid()] in
      var quiet = Quiet()
      while quiet.seconds < limit {
        Quiet.takeNap()
        if getppid() != parent { _exit(1) }
        quiet.addNap()
      }
      // Swift Testing discards the output of exit tests, so print to the parent's output.
      let output = open("/proc/\(parent)/fd/2", O_WRONLY | O_APPEND | O_CLOEXEC)
      if output >= 0 { dup2(output, STDERR_FILENO) }
      Watchdog.shared.abort(after: "this exit test has not ended for \(Int(limit)) seconds")
    }
  }

  private func abort(after reason: String) -> Never {
    let (running, notes) = state.withLock { ($0.running.values.sorted(), $0.notes.sorted { $0.key < $1.key }) }
    var lines = ["", "The watchdog of the tests ends process \(getpid()): \(reason)."]
    if !running.isEmpty { lines.append("Running: \(running.joined(separator: "\n         "))") }
    lines += notes.map { "Noted last by \($0.key): \($0.value)" }
    print(lines)
    print(["Threads:"] + ProcessSnapshot.threads())
    let children = ProcessSnapshot.children()
    if !children.isEmpty { print(["Processes that it has started, which end with it:"] + children.map(\.description)) }
    // If the library hangs in its own diagnosis, this still terminates the process.
    signal(SIGALRM, SIG_DFL)
    alarm(60)
    print(["The waits of the queues and their threads:", libraryDiagnosis()])
    for child in children { kill(child.identifier, SIGKILL) }
    // So that the text above is the last: Swift's handler of crashes would add a report about this thread.
    signal(SIGABRT, SIG_DFL)
    #if canImport(Darwin)
    Darwin.abort()
    #else
    Glibc.abort()
    #endif
  }

  /// Prints to standard error, without buffers that another thread might have locked.
  private func print(_ lines: [String]) {
    let text = lines.joined(separator: "\n") + "\n"
    _ = write(STDERR_FILENO, text, text.utf8.count)
  }
}

/// Called when the program is loaded: see `watchdog.c`.
@_cdecl("headway_watch_exit_test")
package func watchExitTest() {
  // Set in the processes that Swift Testing uses for exit tests.
  if getenv("SWT_EXIT_TEST_ID") != nil { Watchdog.shared.watchExitTest() }
}

/// Runs `body` on its own thread: all threads of Dispatch and of Swift's tasks might be blocked.
private func detachThread(_ body: @escaping @Sendable () -> Void) {
  final class Start: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  let start = Unmanaged.passRetained(Start(body))
  #if canImport(Darwin)
  var thread: pthread_t?
  pthread_create(
    &thread, nil,
    { argument in
      Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
      return nil
    }, start.toOpaque())
  if let thread { pthread_detach(thread) }
  #else
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { argument in
      Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue().body()
      return nil
    }, start.toOpaque())
  pthread_detach(thread)
  #endif
}
