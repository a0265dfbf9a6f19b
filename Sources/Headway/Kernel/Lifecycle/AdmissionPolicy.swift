/// Holds back, orders, and counts the starts of a queue's operations in addition to its ``Admission``: by keys, by
/// resources, and by the rate of the queue.
///
/// Most queues have none. A queue gets one when a rate limit, a key policy or a clock is set, when a call uses a
/// coalescing key, or when the queue accepts an operation with a gate. The admission calls it under the queue's lock,
/// and passes itself. The admission policy calls no code outside, but it may acquire the lock of the ``ResourceTable``.
/// Unless a comment specifies otherwise, the members are called only for operations with a gate.
///
/// See `Docs/decisions/0048-admission-policy.md`.
protocol AdmissionPolicy: AnyObject {
  // MARK: Ready operations

  /// Adds an operation that has become ready.
  ///
  /// - Parameters:
  ///   - operation: The operation to add.
  ///   - word: Its state word.
  ///   - level: Its priority level.
  ///   - turn: The turn that the lane of its key gets if it has none. If this is nil, the lane gets a new turn.
  ///   - admission: The admission of the queue.
  /// - Returns: False if the admission must add it to the ready operations of its segment.
  func insertReady(
    _ operation: Operation, _ word: OperationWord, level: Int, turn: UInt64?, into admission: inout Admission
  ) -> Bool

  /// Removes a ready operation.
  ///
  /// - Returns: False if the admission must remove it from the ready operations of its segment.
  func removeReady(_ operation: Operation, from admission: inout Admission) -> Bool

  /// Moves a ready operation to the class and the level that it belongs to now.
  ///
  /// - Returns: False if the admission must move it.
  func moveReady(_ operation: Operation, _ word: OperationWord, level: Int, in admission: inout Admission) -> Bool

  /// Moves all ready operations of the first segment into the lists of the classes that they belong to now.
  func sortReady(in admission: inout Admission)

  /// Adds the ready operations of a segment, with or without gates, to the ready operations of the first segment.
  func appendReady(_ ready: ReadyByClass, to admission: inout Admission)

  // MARK: Starts

  /// Determines how many operations may start now.
  ///
  /// Called before a worker claims operations, with or without gates, if claiming requires the time.
  ///
  /// - Returns: False if the queue's clock was replaced after the worker had read the time.
  func setTime(_ time: StartTime, of admission: inout Admission) -> Bool

  /// Acquires everything that an operation needs, after the operation was removed from the ready operations or taken
  /// from a batch.
  ///
  /// - Returns: False if the operation must wait.
  func mayStart(_ operation: Operation, at now: ClockTime, in admission: inout Admission) -> Bool

  /// Whether a batch may take a ready operation, with or without a gate.
  ///
  /// - Parameters:
  ///   - operation: An operation that is ready.
  ///   - turn: If the operation represents a lane, the lane's turn must be an earlier one.
  /// - Returns: True if a batch may take the operation.
  func mayTake(_ operation: Operation, before turn: UInt64) -> Bool

  /// Counts an operation that represents its lane, because a batch takes it: ``Batch/shares`` notes it.
  ///
  /// If the operation does not start in the batch, ``insertReady(_:_:level:turn:into:)`` follows.
  func take(_ operation: Operation, into batch: Batch, _ admission: inout Admission)

  /// Releases the shares of the operations of a batch that have ended and were collected.
  func collectShares(of batch: Batch, in admission: inout Admission)

  /// Releases everything that an operation has acquired, because the operation can't start.
  func failToStart(_ operation: Operation, in admission: inout Admission)

  /// Counts an operation, with or without a gate, that ``Admission/next(for:at:)`` starts or that continues after a
  /// pause.
  func noteStart(of operation: Operation, at now: ClockTime, in admission: inout Admission)

  /// Ends the wait of an operation for its resources, which it requests again when its turn comes.
  func withdraw(_ operation: Operation, from admission: inout Admission)

  /// Releases everything that an operation uses, because it leaves or was cancelled.
  func leave(_ operation: Operation, from admission: inout Admission)

  // MARK: Granted operations

  /// How many operations of a class have everything that they need, and a slot, and wait for a worker.
  func grantedCount(_ workerClass: WorkerClass) -> Int

  /// Removes and returns such an operation, to start it.
  func nextGranted(for workerClass: WorkerClass, at now: ClockTime, in admission: inout Admission) -> Operation?

  /// Moves such an operation to the class that it belongs to now.
  func moveGranted(_ operation: Operation, in admission: inout Admission)

  /// Makes such an operation give up its slot.
  func removeGranted(_ operation: Operation, from admission: inout Admission)

  // MARK: Steps after a change

  /// Offers released resources to the operations of this queue that wait for them.
  ///
  /// Called after each change, before tickets are issued.
  func offerReleased(in queue: OperationQueue, _ admission: inout Admission)

  /// Returns the remaining steps, to be performed after the queue's lock has been released, or nil.
  ///
  /// Called after each change, and after tickets were issued.
  func takeSteps(for queue: OperationQueue, _ admission: inout Admission) -> (any AdmissionPolicySteps)?

  /// Removes all references to the queue, which is being freed.
  ///
  /// Called with no lock held.
  func end()

  #if DEBUG
  /// Checks the invariants, then adds the ready operations that wait in the policy's lists to the counts.
  func checkInvariants(readyCount: inout Int, urgent: inout UrgentCounts)
  #endif
}

/// The steps that an ``AdmissionPolicy`` performs after the queue's lock has been released.
protocol AdmissionPolicySteps: AnyObject {
  /// Performs the steps, with no lock held.
  ///
  /// - Parameter effects: Receives the steps that can run user code.
  func perform(leaving effects: inout Effects)
}

/// The start time of operations, on the clock of their queue.
struct StartTime {
  let now: ClockTime
  let clock: PolicyClock
}

extension OperationQueue {
  /// The time of the policies' clock, if the queue needs it to start operations.
  ///
  /// Can run user code: called with no lock held.
  final var startTime: StartTime? {
    guard following.contains(.time) else { return nil }
    let clock = state.withLock { $0.policyClock }
    return StartTime(now: clock.now, clock: clock)
  }
}

extension Admission {
  /// The policy, created if needed.
  var policyCreatedIfNeeded: any AdmissionPolicy {
    mutating get {
      if let policy { return policy }
      let made = QueuePolicies()
      policy = made
      return made
    }
  }
}
