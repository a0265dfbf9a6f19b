import CHeadway
import Synchronization

/// An object that is notified of the changes of one other object.
///
/// The thread that notifies at the moment makes all calls. There is only one at a time.
class Observer: @unchecked Sendable {
  // The lock of the list protects `number`, which is set once. `passedCount` belongs to the thread that notifies.

  /// The keys of the changes that can concern the observer.
  ///
  /// The observer is not notified of other changes.
  fileprivate let interests: ObservedKey.Set
  private let end = Atomic(false)
  /// The position of this observer among all observers that were ever added to its list.
  @exclusivity(unchecked) fileprivate final var number: UInt64 = 0
  /// How many items had been appended to the list when the observer began.
  ///
  /// The value that the observer began with includes these items.
  @exclusivity(unchecked) fileprivate final var passedCount = 0

  init(of interests: ObservedKey.Set) { self.interests = interests }

  /// The observation has ended, and the observer is no longer notified.
  final var hasEnded: Bool { end.load(ordering: .acquiring) }

  final func setEnded() { end.store(true, ordering: .releasing) }

  /// Records the value that the observer begins with.
  ///
  /// The thread that adds the observer calls this, outside of the sequence of notifications.
  func prepare(with object: AnyObject) {}

  /// Records the current state of the object, immediately before ``begin(with:_:)``.
  ///
  /// Called again if the object has changed in the meantime.
  func takeDown(_ object: AnyObject) {}

  /// Begins the observation.
  ///
  /// From now on, the observer is notified of changes.
  ///
  /// - Parameters:
  ///   - object: The object that is observed.
  ///   - state: The value that the observer begins with, if it was recorded under the object's lock. If nil, the object
  ///     might have changed between ``prepare(with:)`` and ``takeDown(_:)``, and no change that reports this will
  ///     follow.
  func begin(with object: AnyObject, _ state: ObservedChange?) {}

  /// Notifies the observer of a change.
  func receive(_ change: ObservedChange, of object: AnyObject) {}

  /// Notifies the observer of an announced change that has not happened yet.
  func receivePrior(_ key: ObservedKey, of object: AnyObject) {}

  /// The observer does not need to be notified when the operation becomes ready or starts.
  var skipsStart: Bool { false }

  /// The observer observes the dependencies of an operation.
  var observesDependencies: Bool { false }

  /// The observer must be notified of announced changes.
  var wantsPrior: Bool { false }

  /// The property that is observed, if a subclass has added it.
  var ownKey: ObservedKey? { nil }
}

/// The observers of one object, and the changes that they have not been notified of yet.
///
/// Changes wait in a list. One thread at a time notifies the observers of one change after the other, outside the lock,
/// so every observer is notified of them in the same order. A thread that appends a change while another thread
/// notifies leaves the change to that thread. Observers can call anything, including functions that cause further
/// changes of the same object.
///
/// See `Docs/decisions/0008-observation.md`.
final class ObserverList: Sendable {
  private enum Item {
    case begin(Observer, ObservedChange?)
    case change(ObservedChange)
    /// Removes all observers, and then informs the operation that they have been notified of its end.
    case end(Operation)
    /// Wakes a waiter once the observers have been notified of all items before this one.
    case waiter(Waiter)
  }

  /// The observers, in insertion order.
  ///
  /// Usually there is only one, which requires no additional memory.
  private struct Observers {
    private final class Others {
      @exclusivity(unchecked) var list: KeyedList<UInt64, Observer>

      init(_ list: KeyedList<UInt64, Observer>) { self.list = list }
    }

    private var first: Observer?
    private var others: Others?

    mutating func append(_ observer: Observer) {
      if first == nil, others?.list.isEmpty != false { return first = observer }
      changeOthers { $0.append(observer, observer.number) }
    }

    func forEach(_ body: (Observer) -> Void) {
      if let first { body(first) }
      if let others { others.list.forEach(body) }
    }

    /// The observed property, if it was added by a subclass; nil if there are several such properties, or none.
    var onlyOwnKey: ObservedKey? {
      var (only, areSeveral): (ObservedKey?, Bool) = (nil, false)
      forEach { observer in
        guard let key = observer.ownKey, !observer.hasEnded else { return }
        areSeveral = areSeveral || (only != nil && only != key)
        only = key
      }
      return areSeveral ? nil : only
    }

    mutating func remove(_ number: UInt64) -> Observer? {
      guard first?.number == number else { return others == nil ? nil : changeOthers { $0.remove(number) } }
      return first.take()
    }

    /// Changes the list of the observers after the first.
    ///
    /// While a thread notifies these observers, this function replaces the list with a changed copy.
    private mutating func changeOthers<Answer>(_ body: (inout KeyedList<UInt64, Observer>) -> Answer) -> Answer {
      let others = isKnownUniquelyReferenced(&others) ? others! : Others(others?.list ?? KeyedList())
      self.others = others
      return body(&others.list)
    }
  }

  /// The items that wait.
  ///
  /// They are in a separate object, because most lists never have any.
  private final class Backlog {
    @exclusivity(unchecked) var items = FirstInFirstOut<Item>()
    /// The observers that have not begun yet, by their numbers.
    @exclusivity(unchecked) var beginning: [UInt64: Observer] = [:]
    @exclusivity(unchecked) var takenCount = 0
  }

  private struct State {
    var observers = Observers()
    private var backlog: Backlog?
    private var lastNumber: UInt64 = 0
    /// The observed operation, until its observers have been notified of its end, or until it is freed; not retained.
    var operation: Unmanaged<Operation>?
    var isNotifying = false
    /// The operation has ended, and its observers have been removed.
    ///
    /// Observers that are added later are not kept.
    var isOver = false
    /// An observer that must be notified of announced changes has been added.
    private(set) var tellsPrior = false
    /// The keys of the changes that can concern any observer that was ever added.
    private(set) var interests: ObservedKey.Set = []

    init(of operation: Operation?) { self.operation = operation.map { .passUnretained($0) } }

    var hasItems: Bool { backlog.map { !$0.items.isEmpty } ?? false }

    /// How many items were ever appended.
    var appendedCount: Int { backlog.map { $0.takenCount + $0.items.count } ?? 0 }

    /// Assigns a number to an observer that is about to be added, and records its interests.
    mutating func number(_ observer: Observer) {
      lastNumber += 1
      observer.number = lastNumber
      interests.formUnion(observer.interests)
      if observer.wantsPrior { tellsPrior = true }
    }

    mutating func append(_ item: Item) {
      let backlog = backlog ?? Backlog()
      self.backlog = backlog
      if case .begin(let observer, _) = item { backlog.beginning[observer.number] = observer }
      backlog.items.append(item)
    }

    /// Returns the next item and its position among all items that were ever appended.
    mutating func takeItem() -> (item: Item, number: Int)? {
      guard let backlog, let item = backlog.items.popFirst() else { return nil }
      backlog.takenCount += 1
      // The item also has a reference to the observer, so nothing is released under the lock.
      if case .begin(let observer, _) = item { backlog.beginning[observer.number] = nil }
      return (item, backlog.takenCount)
    }

    /// Makes the calling thread the notifying thread, if no other thread notifies and no item waits.
    mutating func takeTurn() -> Bool {
      guard !isNotifying, !hasItems else { return false }
      isNotifying = true
      return true
    }

    /// Removes and returns an observer.
    ///
    /// An observer that has not begun is returned, but not removed.
    mutating func remove(_ number: UInt64) -> Observer? {
      observers.remove(number) ?? backlog?.beginning[number]
    }
  }

  // Protected by its lock. Nothing is called and no other lock is acquired under it.
  private let state: Guarded<State>

  /// Creates the list of an operation, or of a queue if `operation` is nil.
  ///
  /// The operation calls ``operationIsFreed()`` before it is freed.
  init(of operation: Operation? = nil) { state = Guarded(State(of: operation)) }

  /// An observer of the dependencies has been added.
  ///
  /// Relaxed: an observer that is added concurrently reads the dependencies when it begins.
  private let dependenciesAreObserved = Atomic(false)

  var observesDependencies: Bool { dependenciesAreObserved.load(ordering: .relaxed) }

  // MARK: Appending

  /// Adds an observer, which is notified of changes that are appended from now on.
  ///
  /// - Parameters:
  ///   - observer: The observer to add. It begins when the next thread notifies.
  ///   - change: The value that it begins with. Required if changes carry values that are recorded under another lock.
  /// - Returns: The number to pass to ``remove(_:)``.
  func add(_ observer: Observer, _ change: ObservedChange? = nil) -> UInt64 {
    state.withLock { state in
      state.number(observer)
      state.append(.begin(observer, change))
      return observer.number
    }
  }

  func append(_ change: ObservedChange) { state.withLock { $0.append(.change(change)) } }

  /// Appends an announced change that has not happened yet.
  ///
  /// - Returns: Whether any observer must be notified of the change.
  func append(before key: ObservedKey) -> Bool {
    state.withLock { state in
      if state.tellsPrior { state.append(.change(ObservedChange(before: key))) }
      return state.tellsPrior
    }
  }

  // MARK: Waiting

  /// Adds a waiter, until the observers have been notified of everything that has happened.
  ///
  /// - Returns: False if they already have been.
  func addWaiter(_ waiter: Waiter) -> Bool {
    let ended = state.withLock { state in
      // The memory is valid: the operation removes itself from this list before it is freed. A thread that notifies
      // observers of the operation's end retains the operation and later removes it from the list.
      state.operation.flatMap { swift_tryRetain($0.toOpaque()) == nil ? nil : $0.takeRetainedValue() }
    }
    // The changes that report the end are appended after the operation has finished. Therefore, wait until its
    // observers have been notified, not for the items in the list.
    if let ended, ended.state.current.phase == .finished { return ended.addWaiter(waiter, for: .notified) }
    return state.withLock { state in
      // If changes wait, the thread that appended them is about to notify.
      guard state.isNotifying || state.hasItems else { return false }
      state.append(.waiter(waiter))
      return true
    }
  }

  // MARK: Notifying

  /// Notifies the observers of the waiting items.
  ///
  /// If another thread already notifies them, leaves it to that thread.
  func notify(of object: AnyObject) {
    guard let next = next(hasTurn: false) else { return }
    NotificationContext.run(notifyingOf: object) {
      notify(of: object, next)
      notifyOfRest(of: object)
    }
  }

  /// Adds an observer that is prepared.
  ///
  /// It begins before this function returns, unless another thread is notifying; then that thread calls
  /// ``Observer/begin(with:_:)``.
  ///
  /// - Returns: The number to pass to ``remove(_:)``.
  func add(_ observer: Observer, beginningWith object: AnyObject) -> UInt64 {
    if observer.observesDependencies { dependenciesAreObserved.store(true, ordering: .relaxed) }
    let (number, count) = state.withLock { state -> (UInt64, Int?) in
      state.number(observer)
      guard state.takeTurn() else {
        state.append(.begin(observer, nil))
        return (observer.number, nil)
      }
      if !state.isOver { state.observers.append(observer) }
      return (observer.number, state.appendedCount)
    }
    guard let count else {
      notify(of: object)
      return number
    }
    NotificationContext.run(notifyingOf: object) {
      begin(observer, with: object, since: count)
      notifyOfRest(of: object)
    }
    return number
  }

  /// Notifies the observers of changes that have happened.
  ///
  /// If another thread already notifies, leaves it to that thread.
  ///
  /// - Parameters:
  ///   - object: The object that has changed.
  ///   - ended: The operation, if the changes are its end. Afterwards, its observers are removed, and it is informed
  ///     that they have been notified.
  ///   - changes: Calls its argument with each change.
  func notify(of object: AnyObject, ending ended: Operation? = nil, _ changes: ((ObservedChange) -> Void) -> Void) {
    // Usually no other thread notifies, and the changes do not need to be in a list.
    let turn = state.withLock { state -> (observers: Observers, interests: ObservedKey.Set)? in
      if state.takeTurn() { return (state.observers, state.interests) }
      changes { state.append(.change($0)) }
      if let ended { state.append(.end(ended)) }
      return nil
    }
    guard let (observers, interests) = turn else { return notify(of: object) }
    NotificationContext.run(notifyingOf: object) {
      changes { change in
        guard interests.contains(ObservedKey.Set(change.key)) else { return }
        Self.notify(observers, of: object, change.asLast, .max)
      }
      if let ended { end(ended) }
      notifyOfRest(of: object)
    }
  }

  /// Notifies the observers of all waiting items.
  ///
  /// The calling thread must be the notifying thread.
  private func notifyOfRest(of object: AnyObject) {
    while !endTurn(), let next = next(hasTurn: true) { notify(of: object, next) }
  }

  /// Lets other threads notify if no item waits, which is the usual case.
  ///
  /// - Returns: Whether no item waits.
  private func endTurn() -> Bool {
    state.withLock { state in
      if !state.hasItems { state.isNotifying = false }
      return !state.hasItems
    }
  }

  private func notify(of object: AnyObject, _ next: (item: Item, number: Int, observers: Observers)) {
    switch next.item {
    case .begin(let observer, let change):
      if observer.hasEnded { return }
      if let change { observer.begin(with: object, change) } else { begin(observer, with: object, since: next.number) }
    case .change(let change):
      Self.notify(next.observers, of: object, change, next.number)
    case .end(let operation):
      end(operation)
    case .waiter(let waiter):
      waiter.wake()
    }
  }

  /// Begins an observation whose observer is already in the list of observers.
  ///
  /// The value that an observer begins with includes the effects of all waiting items. Therefore, this function records
  /// the object's state until no item was appended in between, or, if other threads never stop appending, 100 times.
  ///
  /// - Parameters:
  ///   - observer: The observer to begin with.
  ///   - object: The object that is observed.
  ///   - count: How many items had been appended to the list at a time before this call.
  private func begin(_ observer: Observer, with object: AnyObject, since count: Int) {
    var (next, tries) = (count, 0)
    repeat {
      observer.passedCount = next
      observer.takeDown(object)
      next = state.withLock { $0.appendedCount }
      tries += 1
    } while next != observer.passedCount && tries < 100
    observer.begin(with: object, nil)
  }

  /// Notifies the observers that a change concerns.
  ///
  /// - Parameters:
  ///   - observers: The observers to choose from.
  ///   - object: The object that has changed.
  ///   - change: The change to report.
  ///   - number: The position of the change among all items that were ever appended; the highest number if it was not
  ///     appended.
  private static func notify(_ observers: Observers, of object: AnyObject, _ change: ObservedChange, _ number: Int) {
    // A posted name identifies a property that a subclass has added only if no other such property is observed.
    let change = change.key == .unknown ? observers.onlyOwnKey.map(change.renamed) ?? change : change
    observers.forEach { observer in
      guard observer.interests.contains(ObservedKey.Set(change.key)), !observer.hasEnded else { return }
      // A flag changes in only one order, so an observer that began late recognizes the changes that it has already
      // received. A posted change that is taken after the observer began was posted after the observer was added.
      if number <= observer.passedCount, change.isPrior || (change.flag == nil && !change.isPosted) { return }
      if change.isPrior {
        observer.receivePrior(change.key, of: object)
      } else {
        observer.receive(change, of: object)
      }
    }
  }

  private func end(_ operation: Operation) {
    removeAll(isOver: true)
    operation.observersWereNotified()
  }

  /// Removes and returns the next item.
  ///
  /// - Parameter hasTurn: Whether the calling thread is the notifying thread.
  /// - Returns: The item and the observers to notify; nil if there is no item, or if another thread is notifying.
  private func next(hasTurn: Bool) -> (item: Item, number: Int, observers: Observers)? {
    state.withLock { state in
      guard hasTurn || !state.isNotifying else { return nil }
      guard let (item, number) = state.takeItem() else {
        state.isNotifying = false
        return nil
      }
      state.isNotifying = true
      if case .begin(let observer, _) = item, !observer.hasEnded, !state.isOver { state.observers.append(observer) }
      // Only a change needs the observers. While a copy of them exists, the next modification of the list copies all of
      // it.
      guard case .change(let change) = item else { return (item, number, Observers()) }
      return (.change(state.hasItems ? change : change.asLast), number, state.observers)
    }
  }

  // MARK: Removing

  /// Removes an observer, in constant time.
  ///
  /// After this function returns, the observer is no longer notified, except by a call that is already in progress.
  ///
  /// - Parameter number: The number that ``add(_:_:)`` returned.
  func remove(_ number: UInt64) {
    // Released after the lock.
    ReleasedChain.release(
      state.withLock { state -> (Observer)? in
        let observer = state.remove(number)
        // Under the lock: an observer that waits to begin is then not added to the list.
        observer?.setEnded()
        return observer
      })
  }

  /// Removes everything: the observed operation is about to be freed.
  func operationIsFreed() {
    state.withLock { $0.operation = nil }
    removeAll()
  }

  /// Removes all observers.
  ///
  /// - Parameter isOver: Whether observers that are added from now on begin, but are not kept.
  func removeAll(isOver: Bool = false) {
    // Released after the lock.
    ReleasedChain.release(
      state.withLock { state in
        if isOver { (state.isOver, state.operation) = (true, nil) }
        defer { state.observers = Observers() }
        return state.observers
      })
  }
}
