extension Workload {
  /// An observer of `isFinished` on each operation.
  static let keyPathObserved = observed("key-path-observed", .keyPath)

  /// A task that receives all events of the queue.
  static let eventsObserved = observed("events-observed", .events)

  /// An observer of the progress of a queue with a total count.
  static let progressObserved = observed("progress-observed", .progress)

  /// Independent operations, from creating the first until the last notification, divided by the same time without
  /// observers.
  ///
  /// The result is the ratio for each of several pairs, which alternate within the time limit.
  ///
  /// The figures are the medians of both, in nanoseconds per operation.
  private static func observed(_ name: String, _ observation: Observation) -> Workload {
    Workload(name: name) { rival, count in
      guard let rival = rival as? any ObservableRival else { return nil }
      return .ratio(of: "observed", to: "plain", count: count) { count, isObserved in
        let run = isObserved ? rival.runObserved : rival.runUnobserved
        return { run(observation, count, $0) }
      }
    }
  }
}
