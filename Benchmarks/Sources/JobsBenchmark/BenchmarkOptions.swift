/// The command line.
struct BenchmarkOptions {
  enum Mode: String {
    case through, drain, single, batch
    // Only for Headway.
    case waiting, idle, latency, steady, queues, graph, schedules
    // Only for the mode `queues`, which starts it as another process.
    case produce

    var isOfRivals: Bool { [.through, .drain, .single, .batch].contains(self) }
  }

  let mode: Mode
  var store = ""
  var jobCount = 0
  var producerCount = 64
  var warmUp = 5.0
  var seconds = 3.0
  /// The size of the JSON of a job.
  var payloadSize = 200
  /// The number of jobs that wait while others run.
  var waitingCount = 0
  /// The number of jobs that are enqueued per second.
  var rate = 500
  /// The number of queues that a worker serves.
  var queueCount = 1_000
  /// Whether the worker serves them by a pattern, all on one operation queue.
  ///
  /// If not, it serves each by its name, on its own operation queue.
  var usesPattern = false

  init(_ arguments: [String]) throws {
    guard arguments.count > 1, let mode = Mode(rawValue: arguments[1]) else {
      let modes = "through|drain|single|batch|waiting|idle|latency|steady|queues|graph|schedules"
      throw UsageError(text: "usage: JobsBenchmark \(modes) --store STORE --jobs N")
    }
    self.mode = mode
    var rest = arguments.dropFirst(2)
    while let name = rest.popFirst() {
      guard let value = rest.popFirst() else { throw UsageError(text: "\(name) has no value") }
      switch name {
      case "--store": store = value
      case "--jobs": jobCount = Int(value) ?? 0
      case "--producers": producerCount = Int(value) ?? 0
      case "--warm-up": warmUp = Double(value) ?? 0
      case "--seconds": seconds = Double(value) ?? 0
      case "--payload": payloadSize = Int(value) ?? 0
      case "--waiting": waitingCount = Int(value) ?? 0
      case "--rate": rate = Int(value) ?? 0
      case "--queues": queueCount = Int(value) ?? 0
      case "--serving": usesPattern = value == "pattern"
      default: throw UsageError(text: "unknown option \(name)")
      }
    }
  }
}

struct UsageError: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
}
