#if Observability
public import Headway
public import Tracing

extension OperationQueueProtocol {
  /// Records spans of the operations that are added from now on.
  ///
  /// ```swift
  /// import Tracing
  ///
  /// let queue = OperationQueue(name: "thumbnails")
  /// queue.recordSpans()
  /// withSpan("POST /photos") { _ in
  ///   queue.addOperation { withSpan("decode") { _ in print("decode") } }
  /// }
  /// ```
  ///
  /// The span of an operation covers the time from when the operation is added until it has finished. Its parent is the
  /// span of the task or thread that adds the operation, if there is one. Each attempt has a child span named
  /// `attempt`, so you can see how long the operation waited. Spans that the operation's code starts are children of
  /// the attempt's span, on any thread and in the tasks that the code creates.
  ///
  /// The span of an operation has the operation's name, or its class name if it has no name. The attributes are
  /// `headway.queue.name`, `headway.operation.type` and `headway.operation.status`: `succeeded`, `failed` or
  /// `cancelled`. If the operation is freed with its queue before it has finished, the status is `freed`. The span of
  /// an attempt has the attribute `headway.operation.attempt`, a number that counts from 1. If an attempt or an
  /// operation fails, its span records the error, and has the status code `error`.
  ///
  /// Even with a tracer that records nothing, the work of an operation has the service context of the code that added
  /// the operation. Therefore, values such as the identifier of a request are available to that work.
  ///
  /// The tracer is called on the thread that causes the event, with no lock held. You can add several tracers, but the
  /// last one that you add determines the context in an operation.
  ///
  /// - Parameter tracer: The tracer; nil for the tracer of the instrumentation system, which you must bootstrap before
  ///   you call this method.
  /// - Returns: The registration, which can end the recording.
  /// - Complexity: O(1) for each event. Each unfinished operation uses about 200 bytes, in addition to its spans.
  @_disfavoredOverload
  @discardableResult
  public func recordSpans(with tracer: (any Tracer)? = nil) -> InstrumentRegistration {
    addInstrument(TracingInstrument(tracer ?? InstrumentationSystem.tracer, queueName: name ?? "unnamed"))
  }
}
#endif
