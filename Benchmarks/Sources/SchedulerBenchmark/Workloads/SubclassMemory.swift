extension Workload {
  /// The number of bytes of an operation of a subclass that waits for the previous one in a suspended queue.
  ///
  /// Its only property is a closure (16 bytes; the captured values are shared). According to the statistics of the C
  /// library.
  ///
  /// Only operation queues support this. The process ends while all operations wait.
  static let subclassMemory = Workload(name: "subclass-memory") { rival, count in
    guard let rival = rival as? any DependentRival else { return nil }
    let counter = Counter()
    let allocated = Memory.allocatedBytes
    let queue = rival.makeSuspendedChain(count: count) { counter.increment() }
    let each = Double(Memory.allocatedBytes - allocated) / Double(count)
    return withExtendedLifetime(queue) { Report(samples: [each]) }
  }
}
