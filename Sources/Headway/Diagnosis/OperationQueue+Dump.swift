import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#endif

extension OperationQueue {
  /// Prints the description of ``snapshotAll(maxOperationCount:)`` to standard error whenever the process receives a
  /// signal.
  ///
  /// The description contains the first 100 operations of each queue.
  ///
  /// With `SIGQUIT`, you get the dump by pressing Control-\ in a terminal.
  ///
  /// The signal no longer terminates the process. Calling this method again with the same signal has no effect.
  ///
  /// - Parameter signal: The number of the signal.
  public static func dumpOnSignal(_ signal: Int32) { SignalDump.begin(for: signal) }
}

extension ProcessSnapshot: CustomStringConvertible {
  /// The queues that hold operations, their operations and the threads, one per line.
  public var description: String {
    var lines: [String] = []
    for queue in queues where queue.operationCount > 0 { lines.append(queue.description) }
    if lines.isEmpty { lines.append("No queue holds an operation.") }
    for thread in threads {
      let workClass = thread.workClass == "\(WorkerClass.normal)" ? "" : ", class \(thread.workClass)"
      lines.append("thread \(thread.name) is \(thread.state)\(work(of: thread))\(workClass)")
    }
    return lines.joined(separator: "\n")
  }
}

extension ProcessSnapshot {
  /// The operation or the queue that a thread runs, as the end of a sentence; empty if there is none.
  private func work(of thread: ThreadSnapshot) -> String {
    guard let position = thread.queue, queues.indices.contains(position) else { return "" }
    let queue = queues[position]
    guard let operation = thread.operation, queue.operations.indices.contains(operation) else {
      return " for \(queue.label)"
    }
    return " on \(queue.operations[operation].label) of \(queue.label)"
  }
}

extension OperationQueueSnapshot: CustomStringConvertible {
  fileprivate var label: String { name.map { "queue “\($0)”" } ?? "a queue without a name" }

  /// The queue, and the diagnosis of each operation, one per line.
  public var description: String {
    var parts = ["\(operationCount) operation\(operationCount == 1 ? "" : "s")"]
    if let limit = maxConcurrentOperationCount { parts.append("\(occupiedSlotCount) of \(limit) slots in use") }
    if isSuspended { parts.append("suspended") }
    if isClosed { parts.append("closed") }
    var lines = ["\(label) (\(parts.joined(separator: ", ")))"]
    lines += operations.map { "  \($0.description)" }
    if operations.count < operationCount { lines.append("  … \((operationCount - operations.count).otherOperations)") }
    return lines.joined(separator: "\n")
  }
}

extension OperationSnapshot: CustomStringConvertible {
  fileprivate var label: String { name.map { "“\($0)”" } ?? type }

  /// The diagnosis, with the times, the attempt and the progress.
  public var description: String {
    var parts = [diagnosis]
    if let timeSinceAdded { parts.append("added \(timeSinceAdded.inMilliseconds) ago") }
    if let timeSinceStarted { parts.append("started \(timeSinceStarted.inMilliseconds) ago") }
    if let attempt, attempt > 1 { parts.append("attempt \(attempt)") }
    if let fractionCompleted { parts.append("\(Int(fractionCompleted * 100))% done") }
    return parts.joined(separator: ", ")
  }
}

extension Duration {
  /// The duration, rounded to whole milliseconds for messages.
  var inMilliseconds: Duration { .milliseconds(Int(min(self / .milliseconds(1), 1e15).rounded())) }
}

/// Prints the dump when signals arrive.
private enum SignalDump {
  // The sources exist as long as the process.
  private static let sources = Mutex<[Int32: any DispatchSourceSignal]>([:])

  static func begin(for number: Int32) {
    let source = sources.withLock { sources -> (any DispatchSourceSignal)? in
      guard sources[number] == nil else { return nil }
      // A queue of its own gets a thread even if all other threads of Dispatch are blocked.
      let source = DispatchSource.makeSignalSource(signal: number, queue: DispatchQueue(label: "headway.dump"))
      sources[number] = source
      return source
    }
    guard let source else { return }
    // The source starts to handle signals at some time after `resume()`.
    let installing = DispatchGroup()
    installing.enter()
    source.setRegistrationHandler { installing.leave() }
    source.setEventHandler { writeError("\(OperationQueue.snapshotAll(maxOperationCount: 100))\n") }
    source.resume()
    installing.wait()
    #if canImport(Darwin)
    // On Apple platforms, a source only observes the signal. On other platforms, it handles the signal itself.
    signal(number, SIG_IGN)
    #endif
  }
}
