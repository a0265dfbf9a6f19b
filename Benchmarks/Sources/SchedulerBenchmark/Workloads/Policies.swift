extension Workload {
  /// Operations that each use a resource exclusively, all of different names.
  static let exclusiveName = restricted("exclusive-name", .exclusiveNames(.max))

  /// The same with 1,000 names.
  static let thousandNames = restricted("thousand-names", .exclusiveNames(1000))

  /// Operations with 1,000 different keys.
  static let thousandKeys = restricted("thousand-keys", .keys(1000))

  /// Block operations with a policy, from creating the first until the last has finished, divided by the same time
  /// without the policy.
  ///
  /// The result is the ratio for each of several pairs, which alternate within the time limit. The policies are created
  /// beforehand and are not measured.
  ///
  /// The figures are the medians of both, in nanoseconds per operation.
  private static func restricted(_ name: String, _ restriction: Restriction) -> Workload {
    Workload(name: name) { rival, count in
      guard let rival = rival as? any PolicyRival else { return nil }
      return .ratio(of: "restricted", to: "plain", count: count) { count, isRestricted in
        rival.preparedRun(isRestricted ? restriction : nil, count: count)
      }
    }
  }

  /// The number of bytes that a delay adds to an operation that waits in a queue, according to the statistics of the C
  /// library.
  ///
  /// The figures are the same according to the size of the process, and both numbers for an operation without a delay.
  ///
  /// Only operation queues support this. The process ends while all operations wait.
  static let delayMemory = Workload(name: "delay-memory") { rival, count in
    guard let rival = rival as? any PolicyRival else { return nil }
    let body: Body = {}
    func bytes(delayed: Bool) -> (allocated: Double, resident: Double, queue: any CancellableQueue) {
      let (allocated, resident) = (Memory.allocatedBytes, Memory.residentBytes)
      let queue = rival.makeWaitingQueue(count: count, delayed: delayed, body: body)
      return (
        Double(Memory.allocatedBytes - allocated) / Double(count),
        Double(Memory.residentBytes - resident) / Double(count), queue
      )
    }
    let (plain, delayed) = (bytes(delayed: false), bytes(delayed: true))
    return withExtendedLifetime((plain.queue, delayed.queue)) {
      Report(
        samples: [delayed.allocated - plain.allocated],
        figures: [
          "resident": delayed.resident - plain.resident, "plainAllocated": plain.allocated,
          "plainResident": plain.resident,
        ])
    }
  }

  /// Adding `count` operations with different delays, and then cancelling all of them, minus the same time without
  /// delays.
  ///
  /// In nanoseconds per operation.
  ///
  /// The figures are the times to add and to cancel, with and without delays.
  static let delays = Workload(name: "delays") { rival, count in
    guard let rival = rival as? any PolicyRival else { return nil }
    let body: Body = {}
    func times(of count: Int, delayed: Bool) -> (add: Double, cancel: Double) {
      Memory.trim()
      let start = ContinuousClock.now
      let queue = rival.makeWaitingQueue(count: count, delayed: delayed, body: body)
      let add = Stopwatch.seconds(since: start)
      let cancel = Stopwatch.seconds {
        queue.cancelAll()
        queue.resume()
        queue.waitUntilEmpty()
      }
      return (add / Double(count) * 1e9, cancel / Double(count) * 1e9)
    }
    for delayed in [false, true] { _ = times(of: max(1000, count / 10), delayed: delayed) }
    let (plain, delayed) = (times(of: count, delayed: false), times(of: count, delayed: true))
    return Report(
      samples: [delayed.add + delayed.cancel - plain.add - plain.cancel],
      figures: [
        "plainAdd": plain.add, "plainCancel": plain.cancel, "delayedAdd": delayed.add, "delayedCancel": delayed.cancel,
      ])
  }
}
