#if Observability
public import Headway
public import Logging

extension OperationQueueProtocol {
  /// Logs what happens to the operations that are added from now on, and when the queue stalls.
  ///
  /// ```swift
  /// import Logging
  ///
  /// let queue = OperationQueue(name: "thumbnails")
  /// queue.addLogger(Logger(label: "app.thumbnails"))
  /// ```
  ///
  /// Messages are constant. The details are in the metadata:
  ///
  /// | key | value |
  /// |---|---|
  /// | `queue` | the name of the queue when the logger was added |
  /// | `operation` | the operation's name, or its class if it has none |
  /// | `attempt` | the number of the attempt, from 1; in the last line of an operation, only if there were several |
  /// | `error` | the error of the operation or the attempt |
  /// | `delay` | the pause before the next attempt |
  /// | `operations` | the operations that wait for each other |
  ///
  /// If the logger has a metadata provider, it provides metadata for the code that adds an operation. All lines about
  /// the operation contain this metadata, for example the trace identifier of the request that caused the work.
  ///
  /// The logger is called on the thread that causes the event, with no lock held. A slow log handler delays the work.
  /// The queue keeps the logger until the queue is freed. You can add several loggers.
  ///
  /// - Parameters:
  ///   - logger: The logger that receives the lines. Its level decides which lines are written.
  ///   - levels: The level of each kind of event.
  /// - Returns: The registration, which can remove the logger.
  /// - Complexity: O(1) for each event. An operation with a failed attempt uses memory until it finishes. With a
  ///   metadata provider, each operation does.
  @_disfavoredOverload
  @discardableResult
  public func addLogger(
    _ logger: Logger, levels: OperationLogLevels = OperationLogLevels()
  ) -> InstrumentRegistration {
    let instrument = LoggingInstrument(logger, levels, queueName: name)
    instrument.listen(to: self)
    return addInstrument(instrument).alsoCalling { instrument.stopListening() }
  }
}
#endif
