extension Workload {
  /// Asynchronous functions that do not suspend, from making the first to the end of the last; nanoseconds each.
  static let task = functions("task") { $0.run(count: $1, suspending: false, body: $2) }

  /// The same with functions that suspend once.
  static let suspendingTask = functions("suspending-task") { $0.run(count: $1, suspending: true, body: $2) }

  /// An asynchronous function called with each number, of which 64 calls are under way at once; nanoseconds each.
  static let map = functions("map") { $0.map(count: $1, body: $2) }

  private static func functions(
    _ name: String, _ run: @escaping @Sendable (any AsynchronousRival, Int, @escaping Body) -> Void
  ) -> Workload {
    Workload(name: name) { rival, count in
      guard let rival = rival as? any AsynchronousRival else { return nil }
      func measure(_ count: Int) {
        let counter = Counter()
        run(rival, count) { counter.increment() }
        counter.require(count)
      }
      measure(max(1000, count / 10))
      return Report(samples: Stopwatch.nanosecondsEach(count: count) { measure(count) })
    }
  }
}
