import Synchronization

/// The queues of the process, for a diagnosis of all of them.
///
/// They are recorded only on request, because this costs a lock per queue.
package enum LiveQueues {
  private final class Reference: Sendable {
    private let queue: WeakQueue

    init(_ queue: OperationQueue) { self.queue = WeakQueue(queue) }

    var value: OperationQueue? { queue.queue }
  }

  private struct WeakQueue: @unchecked Sendable {  // A weak reference, protected by the runtime.
    weak var queue: OperationQueue?

    init(_ queue: OperationQueue) { self.queue = queue }
  }

  private static let isRecording = Atomic<Bool>(false)
  private static let references = Mutex<[ObjectIdentifier: Reference]>([:])

  /// Records queues that are created from now on.
  package static func startRecording() { isRecording.store(true, ordering: .relaxed) }

  static func add(_ queue: OperationQueue) {
    guard isRecording.load(ordering: .relaxed) else { return }
    references.withLock { $0[ObjectIdentifier(queue)] = Reference(queue) }
  }

  static func remove(_ queue: OperationQueue) {
    guard isRecording.load(ordering: .relaxed) else { return }
    _ = references.withLock { $0.removeValue(forKey: ObjectIdentifier(queue)) }
  }

  static var all: [OperationQueue] {
    let all = references.withLock { Array($0.values) }
    return all.compactMap(\.value)
  }
}

/// Describes what every queue and thread of Headway waits for, for human readers.
///
/// Includes only queues created since ``LiveQueues/startRecording()``. O(*n*²) at worst in the number of operations of
/// a queue. Only the first hundred operations of each queue are described.
package func processDiagnosis() -> String {
  var lines: [String] = []
  for queue in LiveQueues.all {
    let operations = queue.operations
    guard !operations.isEmpty else { continue }
    lines.append(queue.description)
    for operation in operations.prefix(100) { lines.append("  \(operation.diagnosis)") }
    if operations.count > 100 { lines.append("  … and \(operations.count - 100) more") }
  }
  for workerClass in WorkerClass.allCases {
    let pool = WorkerPool.pool(of: workerClass)
    let (workers, works, isWatched) = pool.state.withLock { state in
      (state.workers.map { ($0.name, $0.status, $0.probe) }, state.work.count, state.isWatched)
    }
    guard !workers.isEmpty || works > 0 else { continue }
    lines.append("\(workerClass) workers: \(works) asked for\(isWatched ? ", watched" : "")")
    for (name, status, probe) in workers {
      let sleeps = probe?.isSleeping.map { $0 ? ", sleeps" : ", computes" } ?? ""
      lines.append("  \(name) \(status)\(sleeps)")
    }
  }
  return lines.isEmpty ? "No queue holds an operation, and no worker is there." : lines.joined(separator: "\n")
}
