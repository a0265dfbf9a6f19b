extension Workload {
  /// Bytes of an operation of a subclass that waits for the one before it, in a suspended queue, with the closure that
  /// is its only property (16 bytes, and what it captures is shared), by the statistics of the C library.
  ///
  /// Only operation queues have that. The process ends with all of them waiting.
  static let subclassMemory = Workload(name: "subclass-memory") { rival, count in
    guard let rival = rival as? any DependentRival else { return nil }
    let counter = Counter()
    let allocated = Memory.allocatedBytes
    let queue = rival.makeSuspendedChain(count: count) { counter.increment() }
    let each = Double(Memory.allocatedBytes - allocated) / Double(count)
    return withExtendedLifetime(queue) { Report(samples: [each]) }
  }
}
