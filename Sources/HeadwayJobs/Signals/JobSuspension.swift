/// The error that stops an attempt because its job waits for a signal or sleeps.
///
/// ``JobContext/waitForSignal(_:as:timeLimit:)`` and ``JobContext/sleep(_:for:)`` throw this error. Let your code
/// rethrow it. If the code catches the error, the attempt still ends with the wait. Until then, the functions of the
/// context throw the same error again, and ``JobContext/checkpoint(_:_:)-(_,()->Value)`` runs no further steps. A step
/// that runs in another task still stores its value. The operation of the attempt succeeds, unless the job has created
/// it, and ``JobMiddleware/didEnd(_:with:error:)`` is called without the error.
///
/// Code outside of checkpoints must not treat this error as a failure:
///
/// ```swift
/// do {
///   guard try await context.waitForSignal("paid", timeLimit: .seconds(3_600)) else { return }
/// } catch where !(error is JobSuspension) {
///   print("The payment can't be checked: \(error)")
/// }
/// ```
public struct JobSuspension: Error, Hashable, Sendable, CustomStringConvertible {
  /// The event or time that the job waits for.
  public let wait: JobWait
  /// The time limit of the wait, or the end of the sleep.
  public let endTime: StoreTime

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - wait: What the job waits for.
  ///   - endTime: The time limit of the wait, or the end of the sleep.
  @_spi(JobStore) public init(_ wait: JobWait, until endTime: StoreTime) {
    (self.wait, self.endTime) = (wait, endTime)
  }

  /// A readable sentence.
  public var description: String { "The job waits for \(wait), until \(endTime)." }
}
