extension Workload {
  /// Operations of a subclass that overrides `main()`.
  ///
  /// Compared with Dispatch's `async`, as are the following three.
  static let subclass = kind("subclass", .subclass)

  /// Operations of an asynchronous subclass that finish in `main()`.
  static let asynchronous = kind("asynchronous", .asynchronous)

  /// Block operations with a name.
  static let withName = kind("name", .withName)

  /// Block operations with a completion block, until the last completion block has run.
  ///
  /// Rivals without completion blocks do both in one block.
  static let withCompletionBlock = kind("completion-block", .withCompletionBlock, runsEach: 2)

  /// Creating, adding, running and freeing independent operations.
  ///
  /// In nanoseconds per operation.
  private static func kind(_ name: String, _ kind: OperationKind, runsEach: Int = 1) -> Workload {
    Workload(name: name) { rival, count in
      guard let rival = rival as? any OperationKindRival else { return nil }
      func run(_ count: Int) {
        let counter = Counter()
        rival.run(kind, count: count) { counter.increment() }
        counter.wait(for: count * runsEach)
        counter.require(count * runsEach)
      }
      run(max(1000, count / 10))
      return Report(samples: Stopwatch.nanosecondsEach(count: count) { run(count) })
    }
  }
}
