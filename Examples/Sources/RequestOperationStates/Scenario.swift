import Headway
import HeadwayTestKit

/// One request, with its announcements.
struct Scenario {
  let connection = LocalConnection()
  let operation: RequestOperation
  private let executing: EventRecorder<Bool>
  private let finished: EventRecorder<Bool>

  init() {
    operation = RequestOperation(address: "/old", connection: connection)
    executing = EventRecorder(observing: operation, at: \.isExecuting)
    finished = EventRecorder(observing: operation, at: \.isFinished)
  }

  /// Sends events in order and returns when they have been delivered.
  func send(_ events: LocalConnection.Event...) {
    for event in events { connection.send(event) }
    connection.waitUntilDelivered()
  }

  /// Whether the end was announced exactly once.
  var hasFinishedOnce: Bool { finished.events == [false, true] }

  /// Prints how the request ended.
  func report(_ title: String) {
    operation.waitUntilFinished()
    print("\(title):")
    print("  isExecuting: \(executing.events), isFinished: \(finished.events)")
    print("  \(operation.resultData.count) bytes of \(operation.address), \(outcome)")
    print("  The connection was \(connection.isCancelled ? "cancelled" : "left alone")")
  }

  private var outcome: String {
    if operation.isCancelled { return "cancelled" }
    return operation.error.map { "failed: \($0)" } ?? "loaded"
  }
}
