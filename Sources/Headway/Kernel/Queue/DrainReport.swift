/// The result of ``OperationQueueProtocol/drain(within:clock:)``: how many operations have finished, how many were
/// cancelled, and which of these are still running.
///
/// A report counts the operations that the queue held when its drain began. Therefore, the report of a second drain
/// contains only the operations that had not finished by then. If they finish within the second time limit, they count
/// as finished, even though the first drain has cancelled them. The rest count as cancelled again.
///
/// Jobs of tasks and actors that the queue executes are not counted.
public struct DrainReport: Sendable, Hashable, CustomStringConvertible {
  /// How many of the operations that the queue held when the drain began had finished when the time was up.
  ///
  /// Their outcomes do not matter.
  public let finishedCount: Int
  /// How many operations had not finished when the time was up, including running ones, and were cancelled.
  public let cancelledCount: Int
  /// The descriptions of the operations that were running when the time was up, and were still running after they were
  /// cancelled.
  ///
  /// They are in insertion order.
  public let runningOperationDescriptions: [String]

  /// Whether all operations had finished when the time was up.
  public var isComplete: Bool { cancelledCount == 0 }

  /// A sentence with the counts and the running operations.
  public var description: String {
    let (counts, running) = ("\(finishedCount) finished, \(cancelledCount) cancelled", runningOperationDescriptions)
    guard !running.isEmpty else { return counts }
    return "\(counts), including \(running.count) still running: \(running.joined(separator: ", "))"
  }
}
