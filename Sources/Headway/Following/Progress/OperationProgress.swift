import Synchronization

/// The progress of a piece of work, as a tree: the members of Foundation's `Progress`, without Foundation.
///
/// Code that does the work sets ``totalUnitCount`` and increments ``completedUnitCount``. Code that watches the work
/// reads ``fractionCompleted`` at any time, or is notified by ``onChange(_:)``. You can assign part of the work to a
/// child:
///
/// ```swift
/// let whole = OperationProgress(totalUnitCount: 10)
/// let part = OperationProgress(totalUnitCount: 1_000, parent: whole, pendingUnitCount: 4)
/// part.completedUnitCount = 500  // whole.fractionCompleted == 0.2
/// ```
///
/// Observers are notified at most once per hundredth of the work, so incrementing the count for every item is cheap.
///
/// You can use every member from any thread.
public final class OperationProgress: Sendable {
  struct State {
    var total: Int64
    var completed: Int64 = 0
    var parts = ProgressParts()
    /// The parent is not owned: it owns its children.
    weak var parent: OperationProgress?
    var observers: [UInt64: @Sendable (OperationProgress) -> Void] = [:]
    var lastObserver: UInt64 = 0
    /// The highest hundredth that observers were notified of.
    var notifiedHundredth = 0
    /// A thread is notifying the observers.
    ///
    /// It checks again afterwards if something changed in the meantime.
    var isNotifying = false
    var notifiesAgain = false
    /// The waiters for the end of the notifications.
    var waiters = WaiterList()
    /// More units might be added when all units are completed.
    var isOpen = false
    var isCancellable = true
    var isPausable = false
    var isCancelled = false
    var isPaused = false
    /// The paused state that was last passed on to handlers and parts.
    var isPassedOnAsPaused = false
    /// A thread is calling the handlers.
    ///
    /// It checks again afterwards.
    var isPassingPauseOn = false
    var cancellationHandler: (@Sendable () -> Void)?
    var pausingHandler: (@Sendable () -> Void)?
    var resumingHandler: (@Sendable () -> Void)?
    /// Cancels the running units of a queue's progress that have no progress of their own.
    var unitCancellation: (@Sendable () -> Void)?

    var isFinished: Bool { total > 0 && completed >= total && !isOpen }

    /// Whether this state refers to parts or to user code.
    var hasReferences: Bool {
      !parts.isEmpty || !observers.isEmpty || cancellationHandler != nil || pausingHandler != nil
        || resumingHandler != nil || unitCancellation != nil
    }

    /// Reads the reports of parts since the last call, each one once.
    ///
    /// Therefore this takes amortized constant time.
    mutating func fraction() -> Double {
      guard total > 0 else { return 0 }
      return max(0, (Double(completed) + parts.completedUnits()) / Double(total))
    }
  }

  // Protected by its lock. Nothing is called under it, and only the locks of parts are acquired.
  let state: Guarded<State>

  /// Whether this progress is in its parent's list of parts that have reported.
  ///
  /// Set and cleared under the parent's lock. A reporting thread reads the value after it has held the lock of this
  /// progress. The parent clears the value before it acquires that lock. If the thread finds it set, the parent has not
  /// read this progress yet, so relaxed accesses are sufficient. `Models/progress.pml` has this protocol.
  let hasReported = Atomic(false)

  /// Whether there is anything to track.
  ///
  /// Every operation loads this once.
  let hasTotal: Atomic<Bool>

  /// The role in the progress of a queue; protected by the lock of that progress.
  let unitState = Atomic(UnitState.none)

  /// Creates a progress that has no parent.
  ///
  /// - Parameter totalUnitCount: The number of units of work; 0 or less if unknown.
  public init(totalUnitCount: Int64) {
    state = Guarded(State(total: totalUnitCount))
    hasTotal = Atomic(totalUnitCount > 0)
  }

  /// Creates a progress that represents part of another progress.
  ///
  /// - Parameters:
  ///   - totalUnitCount: The number of units of work; 0 or less if unknown.
  ///   - parent: The progress of the whole.
  ///   - pendingUnitCount: The number of units of the parent that this progress completes.
  public convenience init(totalUnitCount: Int64, parent: OperationProgress, pendingUnitCount: Int64) {
    self.init(totalUnitCount: totalUnitCount)
    parent.addChild(self, withPendingUnitCount: pendingUnitCount)
  }

  deinit {
    guard state.withLock({ $0.hasReferences }) else { return }
    ReleasedChain.release(
      state.withLock { state in
        defer { state = State(total: 0) }
        return state
      })
  }

  // MARK: Counting

  /// The number of units of work; 0 or less if unknown.
  ///
  /// You choose the unit: bytes, rows, or files, for example.
  public var totalUnitCount: Int64 {
    get { state.withLock { $0.total } }
    set {
      state.withLock { $0.total = newValue }
      hasTotal.store(newValue > 0, ordering: .releasing)
      notifyIfFurther()
    }
  }

  /// The number of completed units, excluding units of unfinished children.
  ///
  /// Setting it notifies the observers, on the calling thread, if this completes another hundredth. Observers are not
  /// notified when the count decreases. Only one thread at a time should use `+=`, which reads and then writes. If
  /// several threads count, each should call ``completeUnits(_:)``.
  public var completedUnitCount: Int64 {
    get { state.withLock { $0.completed } }
    set {
      state.withLock { $0.completed = newValue }
      notifyIfFurther()
    }
  }

  /// Adds completed units in one step.
  ///
  /// Several threads can call this at the same time, and no unit is lost.
  ///
  /// Notifies the observers in the same way as setting ``completedUnitCount``.
  ///
  /// - Parameter unitCount: The number of additional completed units. A negative number decreases the count. As with
  ///   Foundation, a progress whose count falls below 0 is indeterminate.
  public func completeUnits(_ unitCount: Int64) {
    state.withLock { $0.completed += unitCount }
    notifyIfFurther()
  }

  /// Adds to ``totalUnitCount`` in one step.
  ///
  /// The number can be negative.
  func extend(byUnitCount unitCount: Int64) {
    guard unitCount != 0 else { return }
    let total = state.withLock { state in
      state.total += unitCount
      return state.total
    }
    hasTotal.store(total > 0, ordering: .releasing)
    notifyIfFurther()
  }

  /// Keeps the progress from finishing when all units are completed, until ``close()``.
  func open() { state.withLock { $0.isOpen = true } }

  /// Lets the progress finish when all units are completed.
  func close() {
    state.withLock { $0.isOpen = false }
    notifyIfFurther()
  }

  /// The completed fraction of the work, from 0 to 1, including children; 0 while the total is unknown.
  ///
  /// It exceeds 1 if more units are counted than there are.
  ///
  /// - Complexity: Amortized O(1), because each report of a part is read once.
  public var fractionCompleted: Double { state.withLock { $0.fraction() } }

  /// Whether the total is unknown, or the count of completed units is negative.
  public var isIndeterminate: Bool { state.withLock { $0.total <= 0 || $0.completed < 0 } }

  /// Whether all units are completed.
  public var isFinished: Bool { state.withLock { $0.isFinished } }

  /// Assigns part of the work to another progress.
  ///
  /// When the child finishes, its units are completed here. If this progress is cancelled or paused, the child is
  /// also immediately cancelled or paused.
  ///
  /// - Parameters:
  ///   - child: The progress of the part.
  ///   - pendingUnitCount: The number of units of this progress that the child completes.
  /// - Precondition: `child` is not part of another progress, and this progress is not part of `child`, at any depth.
  /// - Complexity: O(*d*) in the number of ancestors.
  public func addChild(_ child: OperationProgress, withPendingUnitCount pendingUnitCount: Int64) {
    let isAdopted = child.setParent(self)
    require(isAdopted, "addChild(_:withPendingUnitCount:): the child already belongs to a progress.")
    // Check after setting the parent: of two threads that close a cycle, at least one sees it.
    let ancestors = sequence(first: self) { $0.parent }
    require(
      !ancestors.contains { $0 === child },
      "addChild(_:withPendingUnitCount:): the child would belong to itself, because this progress belongs to it.")
    take(child, pendingUnitCount)
  }

  /// The parent progress, or nil.
  var parent: OperationProgress? { state.withLock { $0.parent } }

  func setParent(_ parent: OperationProgress) -> Bool {
    // Return the old parent: this can be the last reference to it, which must not be released under the lock.
    let old = state.withLock { state in
      let old = state.parent
      if old == nil { state.parent = parent }
      return old
    }
    return old == nil
  }

  private func take(_ child: OperationProgress, _ pendingUnitCount: Int64) {
    let isCancelled = state.withLock { state in
      state.parts.append(child, pendingUnitCount)
      return state.isCancelled
    }
    if isCancelled { child.cancel() }
    hand(isPausedTo: child) { isPaused in if isPaused { child.pause() } else { child.resume() } }
    if child.isFinished { complete(child) } else { notifyIfFurther() }
  }

  /// Pauses a new part, which is not paused, if this progress is paused.
  ///
  /// Another thread might pause or resume this progress before it finds the part, or before the part is paused.
  /// Therefore, this function checks again.
  func hand(isPausedTo child: OperationProgress, _ set: (Bool) -> Void) {
    var isHanded = false
    while isPaused != isHanded {
      isHanded.toggle()
      set(isHanded)
    }
  }

  /// Converts the pending units of `child` into completed units, if that has not been done.
  func complete(_ child: OperationProgress) {
    if count(child) { notifyIfFurther() }
  }

  /// Does the same as ``complete(_:)`` without notifying observers.
  ///
  /// Returns whether any units were pending.
  func count(_ child: OperationProgress) -> Bool {
    state.withLock { state in
      guard let units = state.parts.remove(child) else { return false }
      state.completed += units
      return true
    }
  }

  // MARK: Observing

  /// Calls `observer` whenever another hundredth of the work is completed, on the thread that completed it, with no
  /// lock held.
  ///
  /// It is called at most 100 times, in order, never for an earlier hundredth, and for the last time when all units are
  /// completed. While one thread notifies observers, it also notifies them of units that other threads complete. The
  /// progress of a queue notifies its observers after the operation that completed a unit has left the queue.
  ///
  /// - Parameter observer: The closure to call. It can call anything.
  /// - Returns: A token that ends the observation when it is released.
  public func onChange(_ observer: @escaping @Sendable (OperationProgress) -> Void) -> KeyValueObservation {
    let identifier = state.withLock { state in
      state.lastObserver += 1
      state.observers[state.lastObserver] = observer
      return state.lastObserver
    }
    return KeyValueObservation(addingWaiter: { [weak self] in self?.addWaiter($0) ?? false }) { [weak self] in
      ReleasedChain.release(self?.state.withLock { $0.observers.removeValue(forKey: identifier) })
    }
  }

  /// Notifies the observers and the parent if another hundredth is completed, and the parent if all units are.
  ///
  /// O(*d*) in the number of ancestors, and O(*n*) in the number of observers, if these are notified.
  func notifyIfFurther() {
    report()
    // Only one thread notifies observers at a time, so they are called in order. It also notifies them of changes that
    // other threads make in the meantime.
    let isNotifying = state.withLock { state in
      state.notifiesAgain = state.isNotifying
      defer { state.isNotifying = true }
      return !state.isNotifying
    }
    if isNotifying {
      repeat { tell() } while mustTellAgain()
    }
    // A thread that sees all units completed notifies the parent before returning, even if another thread notifies the
    // observers.
    let parent = state.withLock { $0.isFinished ? $0.parent : nil }
    parent?.complete(self)
  }

  /// Notes, in the parent and in each ancestor, that there is something new to read for the fraction.
  ///
  /// Must follow each change of the total, of the completed units, or of the parts.
  func report() {
    var part = self
    while let parent = part.parent {
      if !part.hasReported.load(ordering: .relaxed) { parent.state.withLock { $0.parts.note(reportOf: part) } }
      part = parent
    }
  }

  private func tell() {
    let (observers, parent) = state.withLock { state in
      let fraction = state.fraction()
      // Observers are notified of the last hundredth when all units are completed here. A child might have done its
      // part without having reported that.
      let isFinished = state.isFinished
      let hundredth = isFinished ? 100 : min(99, Int(fraction * 100))
      guard hundredth > state.notifiedHundredth else {
        return ([@Sendable (OperationProgress) -> Void](), OperationProgress?.none)
      }
      state.notifiedHundredth = hundredth
      // The parent is notified of the last hundredth when this part is completed in it.
      return (Array(state.observers.values), isFinished ? nil : state.parent)
    }
    for observer in observers { observer(self) }
    parent?.notifyIfFurther()
  }

  /// Returns whether something changed while the calling thread notified.
  ///
  /// If not, the thread has given up that role.
  private func mustTellAgain() -> Bool {
    let (isNotifying, waiters) = state.withLock { state in
      state.isNotifying = state.notifiesAgain
      state.notifiesAgain = false
      return (state.isNotifying, state.isNotifying ? [] : state.waiters.removeAll())
    }
    for waiter in waiters { waiter.wake() }
    return isNotifying
  }

  /// Registers a waiter until the observers have been notified of all completed units.
  ///
  /// - Returns: False if they already have been.
  private func addWaiter(_ waiter: Waiter) -> Bool {
    // A thread that has counted units might not have begun to notify the observers.
    notifyIfFurther()
    return state.withLock { state in
      if state.isNotifying { state.waiters.append(waiter) }
      return state.isNotifying
    }
  }
}
