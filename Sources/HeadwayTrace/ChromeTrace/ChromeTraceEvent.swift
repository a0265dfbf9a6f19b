/// A file in the JSON object format of Chrome's traces.
struct ChromeTraceFile: Codable {
  let traceEvents: [ChromeTraceEvent]
  /// The unit of the times that the viewer displays: `ms` or `ns`.
  ///
  /// The times in the file are always in microseconds.
  let displayTimeUnit: String
  let otherData: [String: String]
}

/// An event of a Chrome trace.
///
/// The coding keys are the field names of the format.
struct ChromeTraceEvent: Codable {
  /// The kind of an event.
  enum Phase: String, Codable {
    case metadata = "M"
    case complete = "X"
    case instant = "i"
    case flowStart = "s"
    case flowEnd = "f"
    case asyncBegin = "b"
    case asyncEnd = "e"
  }

  let phase: Phase
  let name: String
  var category: String?
  var process = 1
  let track: Int
  /// Microseconds, with three decimals.
  var time: Double?
  /// Microseconds, with three decimals.
  var duration: Double?
  /// The identifier that connects the events of a flow, or the beginning and the end of an asynchronous event.
  ///
  /// It is a hexadecimal number in a string, because Perfetto reads identifiers of flows as such.
  var identifier: String?
  /// `e`, which ends a flow at the slice that encloses it instead of at the next slice.
  var bindingPoint: String?
  /// `t`, for an instant that is drawn on its thread.
  var scope: String?
  var arguments: Arguments?

  enum CodingKeys: String, CodingKey {
    case name
    case phase = "ph"
    case category = "cat"
    case process = "pid"
    case track = "tid"
    case time = "ts"
    case duration = "dur"
    case identifier = "id"
    case bindingPoint = "bp"
    case scope = "s"
    case arguments = "args"
  }

  /// The details that a viewer shows next to an event.
  struct Arguments: Codable {
    /// The name of a process or thread, in its metadata.
    var name: String?
    /// The position of a thread among the threads, in its metadata.
    var sortIndex: Int?
    var operation: String?
    var queue: String?
    var result: String?
    var error: String?
    var attempt: Int?
    /// True for an operation or a span that had not ended at the end of the recording.
    var isUnfinished: Bool?
    /// The time from being added until being ready.
    var dependencyWaitMicroseconds: Double?
    /// The time from being ready until the start.
    var queueWaitMicroseconds: Double?

    enum CodingKeys: String, CodingKey {
      case name, operation, queue, result, error, attempt, isUnfinished
      case sortIndex = "sort_index"
      case dependencyWaitMicroseconds, queueWaitMicroseconds
    }
  }

  /// The identifier for a number.
  static func identifier(_ number: Int) -> String { "0x" + String(number, radix: 16) }

  /// The microseconds for a time in nanoseconds.
  static func microseconds(_ nanoseconds: Int64) -> Double { Double(nanoseconds) / 1000 }
}
