import Synchronization

/// How far a piece of work has come, as a tree: the members of Foundation's `Progress`, without Foundation.
///
/// Code that does the work sets ``totalUnitCount`` and counts ``completedUnitCount`` up; code that watches reads
/// ``fractionCompleted`` at any time, or is notified by ``observe(_:)``. A part of the work may be handed to a child:
///
/// ```swift
/// let whole = OperationProgress(totalUnitCount: 10)
/// let part = OperationProgress(totalUnitCount: 1_000, parent: whole, pendingUnitCount: 4)
/// part.completedUnitCount = 500  // whole.fractionCompleted == 0.2
/// ```
///
/// Observers are notified at most once for each hundredth of the work, so counting up for every item is cheap.
///
/// Every member may be used from any thread.
public final class OperationProgress: Sendable {
  struct State {
    var total: Int64
    var completed: Int64 = 0
    var parts = ProgressParts()
    /// The parent is not owned: it owns its children.
    weak var parent: OperationProgress?
    var observers: [UInt64: @Sendable (OperationProgress) -> Void] = [:]
    var lastObserver: UInt64 = 0
    /// The highest hundredth of which observers were notified.
    var toldHundredth = 0
    /// A thread is notifying the observers, and looks again when it is done if something changed meanwhile.
    var isTelling = false
    var tellsAgain = false
    /// Those who wait until the observers have been notified.
    var waiters = WaiterList()
    /// There may be more to do when all units are done.
    var isOpen = false
    var isCancellable = true
    var isPausable = false
    var isCancelled = false
    var isPaused = false
    /// What handlers and parts have heard last.
    var isPassedOnAsPaused = false
    /// A thread is calling the handlers, and looks again when it is done.
    var isPassingPauseOn = false
    var cancellationHandler: (@Sendable () -> Void)?
    var pausingHandler: (@Sendable () -> Void)?
    var resumingHandler: (@Sendable () -> Void)?
    /// As the progress of a queue: cancels the units that run and have no progress of their own.
    var unitCancellation: (@Sendable () -> Void)?

    var isFinished: Bool { total > 0 && completed >= total && !isOpen }

    /// Whether it refers to parts, or to functions that users have given.
    var hasReferences: Bool {
      !parts.isEmpty || !observers.isEmpty || cancellationHandler != nil || pausingHandler != nil
        || resumingHandler != nil || unitCancellation != nil
    }

    /// Reads the reports of parts that have come since the last call, each once; so this takes amortized constant time.
    mutating func fraction() -> Double {
      guard total > 0 else { return 0 }
      return max(0, (Double(completed) + parts.completedUnits()) / Double(total))
    }
  }

  // Protected by its lock, under which nothing is called. Under it, only the locks of parts are taken.
  let state: Guarded<State>

  /// Whether the parent has it in its list of parts that have reported.
  ///
  /// It is set and cleared under the parent's lock. A thread that reports reads it after it has held the lock of this
  /// progress, and the parent clears it before it takes that lock. So if the thread finds it set, the parent has still
  /// to read this progress: relaxed accesses are enough. `Models/progress.pml` has this protocol.
  let hasReported = Atomic(false)

  /// Whether there is anything to track: one load on the path of every operation.
  let hasTotal: Atomic<Bool>

  /// What this is for the progress of a queue; protected by the lock of that.
  let unitState = Atomic(UnitState.none)

  /// Creates a progress that has no parent.
  ///
  /// - Parameter totalUnitCount: How many units there are to do; 0 or less when that is not known.
  public init(totalUnitCount: Int64) {
    state = Guarded(State(total: totalUnitCount))
    hasTotal = Atomic(totalUnitCount > 0)
  }

  /// Creates a progress that stands for a part of another.
  ///
  /// - Parameters:
  ///   - totalUnitCount: How many units there are to do; 0 or less when that is not known.
  ///   - parent: The progress of the whole.
  ///   - pendingUnitCount: How many of the parent's units this one completes.
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

  /// How many units there are to do; 0 or less when that is not known.
  ///
  /// What a unit is, is up to the code that counts: bytes, rows, files.
  public var totalUnitCount: Int64 {
    get { state.withLock { $0.total } }
    set {
      state.withLock { $0.total = newValue }
      hasTotal.store(newValue > 0, ordering: .releasing)
      notifyIfFurther()
    }
  }

  /// How many units are done, those of unfinished children not counted.
  ///
  /// Setting it notifies the observers, on the calling thread, if another hundredth is done by it. They are not
  /// notified of counting down. Only one thread at a time should count with `+=`, which reads and then writes; where
  /// several count, each calls ``complete(unitCount:)``.
  public var completedUnitCount: Int64 {
    get { state.withLock { $0.completed } }
    set {
      state.withLock { $0.completed = newValue }
      notifyIfFurther()
    }
  }

  /// Counts units as done, in one step: several threads may count at once, and no unit is lost.
  ///
  /// Notifies the observers as setting ``completedUnitCount`` does.
  ///
  /// - Parameter unitCount: How many units more are done. A negative count counts down; as with Foundation, a progress
  ///   that falls below 0 is indeterminate.
  public func complete(unitCount: Int64) {
    state.withLock { $0.completed += unitCount }
    notifyIfFurther()
  }

  /// There is more to do than was known, or less: as adding to ``totalUnitCount``, in one step.
  func extend(byUnitCount unitCount: Int64) {
    guard unitCount != 0 else { return }
    let total = state.withLock { state in
      state.total += unitCount
      return state.total
    }
    hasTotal.store(total > 0, ordering: .releasing)
    notifyIfFurther()
  }

  /// From now on there may be more to do when all units are done, until ``close()``.
  func open() { state.withLock { $0.isOpen = true } }

  /// There is no more to do than is known.
  func close() {
    state.withLock { $0.isOpen = false }
    notifyIfFurther()
  }

  /// How much of the work is done, from 0 to 1, children included; 0 while the total is not known.
  ///
  /// It exceeds 1 when more units are counted than there are.
  ///
  /// - Complexity: Amortized O(1): each report of a part is read once.
  public var fractionCompleted: Double { state.withLock { $0.fraction() } }

  /// Whether the total is unknown, or the count of completed units is negative.
  public var isIndeterminate: Bool { state.withLock { $0.total <= 0 || $0.completed < 0 } }

  /// Whether all units are done.
  public var isFinished: Bool { state.withLock { $0.isFinished } }

  /// Hands a part of the work to another progress.
  ///
  /// When that finishes, its units are completed here. If this progress is cancelled or paused, so is the part at once.
  ///
  /// - Parameters:
  ///   - child: The progress of the part.
  ///   - pendingUnitCount: How many units of this progress it completes.
  /// - Precondition: `child` is a part of no progress, and this progress is no part of it, at any depth.
  /// - Complexity: O(*d*), where *d* is how many parents are above each other.
  public func addChild(_ child: OperationProgress, withPendingUnitCount pendingUnitCount: Int64) {
    let isAdopted = child.setParent(self)
    require(isAdopted, "addChild(_:withPendingUnitCount:): the child is a part of a progress already.")
    // Looked for with the parent set: of two threads that close a cycle, one at least sees it.
    let ancestors = sequence(first: self) { $0.parent }
    require(
      !ancestors.contains { $0 === child },
      "addChild(_:withPendingUnitCount:): the child would be a part of itself: this progress is a part of it.")
    take(child, pendingUnitCount)
  }

  /// The progress of which this is a part.
  var parent: OperationProgress? { state.withLock { $0.parent } }

  func setParent(_ parent: OperationProgress) -> Bool {
    // The old parent is returned: the last reference to it may be this one, which must not be dropped under the lock.
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

  /// A new part, which is not paused, is paused if this is.
  ///
  /// Another thread may pause or resume this meanwhile, before it found the part, or before the part was paused: so
  /// this looks again.
  func hand(isPausedTo child: OperationProgress, _ set: (Bool) -> Void) {
    var isHanded = false
    while isPaused != isHanded {
      isHanded.toggle()
      set(isHanded)
    }
  }

  /// Turns what was pending for `child` into completed units, if it has not been.
  func complete(_ child: OperationProgress) {
    if count(child) { notifyIfFurther() }
  }

  /// As ``complete(_:)``, without notifying anybody; returns whether anything was pending.
  func count(_ child: OperationProgress) -> Bool {
    state.withLock { state in
      guard let units = state.parts.remove(child) else { return false }
      state.completed += units
      return true
    }
  }

  // MARK: Observing

  /// Calls `observer` whenever another hundredth of the work is done, on the thread that did it, with no lock held.
  ///
  /// It is called at most 100 times, in order, never for a hundredth that was done before, and the last time when all
  /// units are done. While one thread notifies observers, it also notifies them of what other threads do meanwhile. The
  /// progress of a queue notifies its observers when the operation that completed a unit has left the queue.
  ///
  /// - Parameter observer: What to call. It may call anything.
  /// - Returns: A token that ends the observation when it is released.
  public func observe(_ observer: @escaping @Sendable (OperationProgress) -> Void) -> ObservationToken {
    let identifier = state.withLock { state in
      state.lastObserver += 1
      state.observers[state.lastObserver] = observer
      return state.lastObserver
    }
    return ObservationToken(addingWaiter: { [weak self] in self?.addWaiter($0) ?? false }) { [weak self] in
      ReleasedChain.release(self?.state.withLock { $0.observers.removeValue(forKey: identifier) })
    }
  }

  /// Notifies the observers and the parent, if another hundredth of the work is done; and the parent, if all is.
  ///
  /// O(*d*) in the number of parents above each other, and O(*n*) in that of observers, if these are notified.
  func notifyIfFurther() {
    report()
    // One thread at a time notifies, so that observers hear in order; it also notifies them of what comes meanwhile.
    let isTelling = state.withLock { state in
      state.tellsAgain = state.isTelling
      defer { state.isTelling = true }
      return !state.isTelling
    }
    if isTelling {
      repeat { tell() } while mustTellAgain()
    }
    // A thread that sees the end says so before it returns, whichever thread notifies the observers.
    let parent = state.withLock { $0.isFinished ? $0.parent : nil }
    parent?.complete(self)
  }

  /// Notes, in the parent and in each one above it, that there is something new to read for the fraction.
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
      // Of the last hundredth they are notified when all units are completed here: a child may have done its part and
      // not said so.
      let isFinished = state.isFinished
      let hundredth = isFinished ? 100 : min(99, Int(fraction * 100))
      guard hundredth > state.toldHundredth else {
        return ([@Sendable (OperationProgress) -> Void](), OperationProgress?.none)
      }
      state.toldHundredth = hundredth
      // Of the end the parent hears by completing this part.
      return (Array(state.observers.values), isFinished ? nil : state.parent)
    }
    for observer in observers { observer(self) }
    parent?.notifyIfFurther()
  }

  /// Whether something changed while the calling thread notified; if not, it has ceased to be the one that does.
  private func mustTellAgain() -> Bool {
    let (isTelling, waiters) = state.withLock { state in
      state.isTelling = state.tellsAgain
      state.tellsAgain = false
      return (state.isTelling, state.isTelling ? [] : state.waiters.removeAll())
    }
    for waiter in waiters { waiter.wake() }
    return isTelling
  }

  /// Registers a waiter until the observers have been notified of what is done.
  ///
  /// - Returns: False if they have been.
  private func addWaiter(_ waiter: Waiter) -> Bool {
    // A thread that has counted may not have begun to notify.
    notifyIfFurther()
    return state.withLock { state in
      if state.isTelling { state.waiters.append(waiter) }
      return state.isTelling
    }
  }
}
