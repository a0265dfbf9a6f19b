public import Headway

extension Trace {
  /// Ends the trace.
  ///
  /// Until then, the trace keeps the errors of failed operations. This method describes them, so it calls user code.
  ///
  /// - Returns: What was recorded. If the trace was stopped before, the recording is empty.
  /// - Complexity: O(*n* log *n*) in the number of recorded events.
  public func stop() -> TraceRecording {
    guard let recorded = takeEvents() else { return TraceRecording(duration: .zero) }
    var builder = TraceBuilder(recorded)
    return builder.makeRecording()
  }

  /// Records a trace while a function runs.
  ///
  /// - Parameters:
  ///   - maxEventCountPerThread: How many events each thread can record. An operation has three or four events, and
  ///     more for its name, its dependencies and its attempts.
  ///   - body: The function to call.
  /// - Returns: What was recorded until the function returned.
  /// - Throws: The error that the function throws.
  /// - Precondition: No other trace is being recorded, and `maxEventCountPerThread` is positive.
  public static func record(
    maxEventCountPerThread: Int = defaultMaxEventCount, _ body: () throws -> Void
  ) rethrows -> TraceRecording {
    let trace = Trace.start(maxEventCountPerThread: maxEventCountPerThread)
    try body()
    return trace.stop()
  }

  /// Records a trace while an asynchronous function runs.
  ///
  /// - Parameters:
  ///   - maxEventCountPerThread: How many events each thread can record. An operation has three or four events, and
  ///     more for its name, its dependencies and its attempts.
  ///   - actor: The isolation of the caller, where the function runs.
  ///   - body: The function to call.
  /// - Returns: What was recorded until the function returned.
  /// - Throws: The error that the function throws.
  /// - Precondition: No other trace is being recorded, and `maxEventCountPerThread` is positive.
  public static func record(
    maxEventCountPerThread: Int = defaultMaxEventCount,
    isolation actor: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
  ) async rethrows -> TraceRecording {
    let trace = Trace.start(maxEventCountPerThread: maxEventCountPerThread)
    try await body()
    return trace.stop()
  }
}
