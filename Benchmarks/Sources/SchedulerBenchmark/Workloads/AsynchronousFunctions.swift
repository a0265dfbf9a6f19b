import Glibc

extension Workload {
  /// Asynchronous functions that do not suspend, from creating the first until the last has ended.
  ///
  /// In nanoseconds per function.
  static let task = functions("task") { $0.run(count: $1, suspending: false, body: $2) }

  /// Asynchronous functions that suspend once, measured like ``task``.
  static let suspendingTask = functions("suspending-task") { $0.run(count: $1, suspending: true, body: $2) }

  /// An asynchronous function that is called with each number, with 64 calls in progress at the same time.
  ///
  /// In nanoseconds per call.
  static let map = Workload(name: "map") { rival, count in
    guard let rival = rival as? any AsynchronousRival else { return nil }
    return measured(count) { rival.map(count: $0, body: $1) }
  }

  /// Items that pass through three stages of asynchronous functions, in order.
  ///
  /// Nanoseconds per item.
  static let stream = Workload(name: "stream") { rival, count in
    guard let rival = rival as? any AsynchronousRival else { return nil }
    func measure(_ count: Int) {
      let counter = Counter()
      rival.stream(count: count) { counter.increment() }
      counter.require(3 * count)
    }
    measure(1000)
    return Report(samples: Stopwatch.nanosecondsEach(count: count) { measure(count) })
  }

  /// How long a function that does nothing takes to return next to `count` functions that block for 10 ms each.
  ///
  /// Milliseconds, the mean of a hundred functions in sequence.
  static let blockingCalls = Workload(name: "blocking-calls") { rival, count in
    guard let rival = rival as? any AsynchronousRival else { return nil }
    let (counter, turns) = (Counter(), 100)
    let seconds = rival.secondsOfTurns(turns, besideBlocking: count) {
      usleep(10_000)
      counter.increment()
    }
    counter.require(count)
    return Report(samples: [seconds / Double(turns) * 1e3])
  }

  private static func functions(
    _ name: String, _ run: @escaping @Sendable (any FunctionRival, Int, @escaping Body) -> Void
  ) -> Workload {
    Workload(name: name) { rival, count in
      guard let rival = rival as? any FunctionRival else { return nil }
      return measured(count) { run(rival, $0, $1) }
    }
  }

  private static func measured(_ count: Int, _ run: (Int, @escaping Body) -> Void) -> Report {
    func measure(_ count: Int) {
      let counter = Counter()
      run(count) { counter.increment() }
      counter.require(count)
    }
    measure(max(1000, count / 10))
    return Report(samples: Stopwatch.nanosecondsEach(count: count) { measure(count) })
  }
}
