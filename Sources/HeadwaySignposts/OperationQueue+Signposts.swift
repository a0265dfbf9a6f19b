#if Observability
public import Headway

extension OperationQueueProtocol {
  /// Records signposts, so that Instruments shows the operations that are added from now on.
  ///
  /// ```swift
  /// queue.recordSignposts()
  /// ```
  ///
  /// Each operation is an interval named `Operation`, from when it is added until it has finished. Each attempt is an
  /// interval named `Attempt`. Both have the names of the queue and the operation. The names are public: everyone who
  /// can read the system's log can see them.
  ///
  /// Signposts are a facility of Apple's platforms. On other platforms, this method has no effect, so you can call it
  /// everywhere.
  ///
  /// - Parameters:
  ///   - subsystem: The subsystem of the log, such as the identifier of an app.
  ///   - category: The category of the log. With `PointsOfInterest`, Instruments shows the intervals without further
  ///     configuration.
  /// - Returns: The registration, which can end the recording.
  /// - Complexity: O(1) for each event; a few nanoseconds while no tool records the signposts.
  @_disfavoredOverload
  @discardableResult
  public func recordSignposts(
    subsystem: String = "Headway", category: String = "Operations"
  ) -> InstrumentRegistration {
    #if canImport(os)
    addInstrument(SignpostInstrument(subsystem: subsystem, category: category, queueName: name ?? "unnamed"))
    #else
    InstrumentRegistration {}
    #endif
  }
}
#endif
