import CHeadway
import Synchronization

/// That which is notified of the changes of one object.
///
/// All calls come from the thread that notifies at that moment; there is one at a time.
protocol Observer: AnyObject, Sendable {
  /// The observation has ended: there are no more notifications.
  var hasEnded: Bool { get }
  func setEnded()
  /// Takes down what the observer begins with; called by the thread that adds it, which is not the one that notifies.
  func prepare(with object: AnyObject)
  /// Takes down what the object is now, for the beginning that follows.
  ///
  /// Called again where the object has changed meanwhile.
  func takeDown(_ object: AnyObject)
  /// From now on, it is notified of changes.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - state: What the observer begins with, if it was taken down under the object's lock; else the object may have
  ///     changed between ``prepare(with:)`` and ``takeDown(_:)``, without any change that is to come.
  func begin(with object: AnyObject, _ state: ObservedChange?)
  /// Something has changed.
  func receive(_ change: ObservedChange, of object: AnyObject)
  /// It need not hear when the operation becomes ready, nor when it starts.
  var skipsStart: Bool { get }
  /// It observes the dependencies of an operation.
  var observesDependencies: Bool { get }
  /// It wants to hear of changes that are still to come.
  var wantsPrior: Bool { get }
  /// The property that it observes, if a subclass has added that.
  var ownKey: ObservedKey? { get }
  /// A change has been announced, and is still to come.
  func receivePrior(_ key: ObservedKey, of object: AnyObject)
}

extension Observer {
  func prepare(with object: AnyObject) {}

  func takeDown(_ object: AnyObject) {}

  var skipsStart: Bool { false }

  var observesDependencies: Bool { false }

  var wantsPrior: Bool { false }

  var ownKey: ObservedKey? { nil }

  func receivePrior(_ key: ObservedKey, of object: AnyObject) {}
}

/// The observers of one object, and the changes of which they are still to be notified.
///
/// Changes wait in a list, and one thread at a time notifies of one after the other, outside the lock, so every
/// observer hears of them in the same order. A thread that has appended a change while another notifies leaves it to
/// that one: observers may call anything, even what leads to further changes of the same object.
final class ObserverList: Sendable {
  private enum Item {
    case begin(Entry, ObservedChange?)
    case change(ObservedChange)
    /// All observers are to be removed, and the operation is to hear that they have been notified of its end.
    case end(Operation)
    /// A waiter until the observers have been notified of all before it.
    case waiter(Waiter)
  }

  private struct Entry {
    let observer: any Observer
    /// Which it is of all that were ever added.
    let number: UInt64
    /// How many of all items that were ever appended it began with: with what they had led to.
    var passedCount = 0
  }

  /// In the order of adding; mostly one, which takes no memory of its own.
  private struct Entries {
    private var first: Entry?
    private var others = KeyedList<UInt64, Entry>()

    mutating func append(_ entry: Entry) {
      if first == nil, others.isEmpty { first = entry } else { others.append(entry, entry.number) }
    }

    func forEach(_ body: (Entry) -> Void) {
      if let first { body(first) }
      if !others.isEmpty { others.forEach(body) }
    }

    /// The one property among those that a subclass has added that is observed; nil if there are several, or none.
    var onlyOwnKey: ObservedKey? {
      var (only, areSeveral): (ObservedKey?, Bool) = (nil, false)
      forEach { entry in
        guard let key = entry.observer.ownKey, !entry.observer.hasEnded else { return }
        areSeveral = areSeveral || (only != nil && only != key)
        only = key
      }
      return areSeveral ? nil : only
    }

    mutating func setPassedCount(_ count: Int, of number: UInt64) {
      guard first?.number == number else { return others.change(number) { $0.passedCount = count } }
      first?.passedCount = count
    }

    mutating func remove(_ number: UInt64) -> Entry? {
      guard let entry = first, entry.number == number else { return others.remove(number) }
      first = nil
      return entry
    }
  }

  private struct State {
    var observers = Entries()
    private(set) var items = FirstInFirstOut<Item>()
    /// The observers that are still to begin, by their numbers.
    var beginning: [UInt64: any Observer] = [:]
    private var takenCount = 0
    var isNotifying = false
    /// The operation has ended, and its observers have been removed: no more are kept.
    var isOver = false
    /// An observer that wants to hear of changes to come has been added.
    var tellsPrior = false
    var lastNumber: UInt64 = 0
    /// The operation that is observed, until it is freed; not retained.
    var operation: Unmanaged<Operation>?

    mutating func entry(of observer: any Observer) -> Entry {
      lastNumber += 1
      if observer.wantsPrior { tellsPrior = true }
      return Entry(observer: observer, number: lastNumber)
    }

    mutating func append(_ item: Item) {
      if case .begin(let entry, _) = item { beginning[entry.number] = entry.observer }
      items.append(item)
    }

    /// How many items were ever appended.
    var appendedCount: Int { takenCount + items.count }

    /// The next item, and which it is of all that were ever appended.
    mutating func takeItem() -> (item: Item, number: Int)? {
      guard let item = items.popFirst() else { return nil }
      takenCount += 1
      // The item has the observer, too: nothing is dropped under the lock.
      if case .begin(let entry, _) = item { beginning[entry.number] = nil }
      return (item, takenCount)
    }

    /// The calling thread is to notify at once, if no other does and nothing waits.
    mutating func takeTurn() -> Bool {
      guard !isNotifying, items.isEmpty else { return false }
      isNotifying = true
      return true
    }
  }

  // Protected by its lock, under which nothing is called and no other lock is taken.
  private let state = Guarded(State())

  /// Creates the list of a queue or a progress.
  init() {}

  /// Creates the list of an operation, which calls ``operationIsFreed()`` before it is freed.
  init(of operation: Operation) { state.withLock { $0.operation = .passUnretained(operation) } }

  /// An observer of the dependencies has been added.
  ///
  /// Relaxed: one that is added meanwhile looks at them when it begins.
  private let dependenciesAreObserved = Atomic(false)

  var observesDependencies: Bool { dependenciesAreObserved.load(ordering: .relaxed) }

  // MARK: Appending

  /// Adds an observer, which is notified of what is appended from now on.
  ///
  /// - Parameters:
  ///   - observer: The observer.
  ///   - change: What it begins with; needed where changes carry values that are taken down under another lock.
  /// - Returns: The number with which it can be removed.
  func add(_ observer: any Observer, _ change: ObservedChange? = nil) -> UInt64 {
    state.withLock { state in
      let entry = state.entry(of: observer)
      state.append(.begin(entry, change))
      return entry.number
    }
  }

  func append(_ change: ObservedChange) { state.withLock { $0.append(.change(change)) } }

  /// Appends a change that is still to come.
  ///
  /// - Returns: Whether an observer wants to hear of it.
  func append(before key: ObservedKey) -> Bool {
    state.withLock { state in
      if state.tellsPrior { state.append(.change(ObservedChange(before: key))) }
      return state.tellsPrior
    }
  }

  // MARK: Waiting

  /// Adds a waiter until the observers have been notified of everything that has happened.
  ///
  /// - Returns: False if they have been.
  func addWaiter(_ waiter: Waiter) -> Bool {
    let ended = state.withLock { state in
      // It is in memory, since it takes itself out here before it is freed.
      state.operation.flatMap { swift_tryRetain($0.toOpaque()) == nil ? nil : $0.takeRetainedValue() }
    }
    // Changes of the end are appended after it: so it is the end of the notifying that counts.
    if let ended, ended.state.current.phase == .finished { return ended.addWaiter(waiter, for: .notified) }
    return state.withLock { state in
      // Where changes wait, the thread that has appended them is about to notify.
      guard state.isNotifying || !state.items.isEmpty else { return false }
      state.append(.waiter(waiter))
      return true
    }
  }

  // MARK: Notifying

  /// Notifies the observers of what waits, or leaves it to the thread that does so already.
  func notify(of object: AnyObject) {
    guard let next = next(hasTurn: false) else { return }
    NotificationContext.run(notifyingOf: object) {
      notify(of: object, next)
      notifyOfRest(of: object)
    }
  }

  /// Adds an observer that is prepared, which begins before this returns, unless another thread is notifying; then that
  /// thread has it begin.
  ///
  /// - Returns: The number with which it can be removed.
  func add(_ observer: any Observer, beginningWith object: AnyObject) -> UInt64 {
    if observer.observesDependencies { dependenciesAreObserved.store(true, ordering: .relaxed) }
    let (number, hasTurn) = state.withLock { state in
      let entry = state.entry(of: observer)
      let hasTurn = state.takeTurn()
      if !hasTurn { state.append(.begin(entry, nil)) } else if !state.isOver { state.observers.append(entry) }
      return (entry.number, hasTurn)
    }
    if hasTurn {
      NotificationContext.run(notifyingOf: object) {
        begin(Entry(observer: observer, number: number), with: object, nil)
        notifyOfRest(of: object)
      }
    } else {
      notify(of: object)
    }
    return number
  }

  /// Notifies the observers of changes that have happened, or leaves it to the thread that notifies already.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - ended: The operation, if that is its end: afterwards, its observers are removed, and it hears of that.
  ///   - changes: Calls what it is given with each change.
  func notify(of object: AnyObject, ending ended: Operation? = nil, _ changes: ((ObservedChange) -> Void) -> Void) {
    // Mostly no other thread notifies: then the changes need not be in a list.
    let observers = state.withLock { state -> Entries? in
      if state.takeTurn() { return state.observers }
      changes { state.append(.change($0)) }
      if let ended { state.append(.end(ended)) }
      return nil
    }
    guard let observers else { return notify(of: object) }
    NotificationContext.run(notifyingOf: object) {
      changes { Self.notify(observers, of: object, $0.asLast, .max) }
      if let ended { end(ended) }
      notifyOfRest(of: object)
    }
  }

  /// The calling thread is the one that notifies.
  private func notifyOfRest(of object: AnyObject) {
    while let next = next(hasTurn: true) { notify(of: object, next) }
  }

  private func notify(of object: AnyObject, _ next: (item: Item, number: Int, observers: Entries)) {
    switch next.item {
    case .begin(let entry, let change):
      if !entry.observer.hasEnded { begin(entry, with: object, change) }
    case .change(let change):
      Self.notify(next.observers, of: object, change, next.number)
    case .end(let operation):
      end(operation)
    case .waiter(let waiter):
      waiter.wake()
    }
  }

  /// Has an observer begin that is among the others already.
  ///
  /// What the items that wait have led to is what it begins with; so it looks at the object until none was appended
  /// meanwhile, or, with other threads that never cease to append, often enough.
  private func begin(_ entry: Entry, with object: AnyObject, _ change: ObservedChange?) {
    if change == nil {
      var (count, tries) = (-1, 0)
      while tries < 100 {
        let appendedCount = state.withLock { $0.appendedCount }
        guard appendedCount != count else { break }
        count = appendedCount
        entry.observer.takeDown(object)
        tries += 1
      }
      let passedCount = count
      state.withLock { $0.observers.setPassedCount(passedCount, of: entry.number) }
    }
    entry.observer.begin(with: object, change)
  }

  /// Notifies those of a change whom it concerns.
  ///
  /// - Parameters:
  ///   - observers: The observers.
  ///   - object: What has changed.
  ///   - change: The change.
  ///   - number: Which it is of all items that were ever appended; the highest for one that was not.
  private static func notify(_ observers: Entries, of object: AnyObject, _ change: ObservedChange, _ number: Int) {
    // A posted name identifies a property that a subclass has added only if no other such property is observed.
    let change = change.key == .unknown ? observers.onlyOwnKey.map(change.renamed) ?? change : change
    observers.forEach { entry in
      guard !entry.observer.hasEnded else { return }
      // Flags come in the one order that there is: a late observer knows what it has heard of. A posted change that is
      // taken after the observer's beginning was posted after the observer was added.
      if number <= entry.passedCount, change.isPrior || (change.flag == nil && !change.isPosted) { return }
      if change.isPrior {
        entry.observer.receivePrior(change.key, of: object)
      } else {
        entry.observer.receive(change, of: object)
      }
    }
  }

  private func end(_ operation: Operation) {
    removeAll(isOver: true)
    operation.observersWereNotified()
  }

  /// Takes the next item.
  ///
  /// - Parameter hasTurn: The calling thread is the one that notifies.
  /// - Returns: The item and those to notify; nil when there is none, or when another thread is at it.
  private func next(hasTurn: Bool) -> (item: Item, number: Int, observers: Entries)? {
    state.withLock { state in
      guard hasTurn || !state.isNotifying else { return nil }
      guard let (item, number) = state.takeItem() else {
        state.isNotifying = false
        return nil
      }
      state.isNotifying = true
      if case .begin(let entry, _) = item, !entry.observer.hasEnded, !state.isOver { state.observers.append(entry) }
      // Only a change needs the observers; where they are copied, the next change to the list copies all of it.
      guard case .change(let change) = item else { return (item, number, Entries()) }
      return (.change(state.items.isEmpty ? change.asLast : change), number, state.observers)
    }
  }

  // MARK: Removing

  /// Removes an observer, in constant time.
  ///
  /// After this returns, it is no longer notified, except by a call that is under way.
  ///
  /// - Parameter number: Its number.
  func remove(_ number: UInt64) {
    // Released after the lock.
    ReleasedChain.release(
      state.withLock { state -> (any Observer)? in
        let observer = state.observers.remove(number)?.observer ?? state.beginning[number]
        // Under the lock: one that waits to begin is no longer put among the others.
        observer?.setEnded()
        return observer
      })
  }

  /// The operation that was observed is about to be freed.
  func operationIsFreed() {
    state.withLock { $0.operation = nil }
    removeAll()
  }

  /// Removes all.
  ///
  /// - Parameter isOver: Observers that are added from now on begin, and are not kept.
  func removeAll(isOver: Bool = false) {
    // Released after the lock.
    ReleasedChain.release(
      state.withLock { state in
        if isOver { state.isOver = true }
        defer { state.observers = Entries() }
        return state.observers
      })
  }
}
