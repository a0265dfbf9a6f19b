// Posting changes, and observing them. On Linux, code that observes compiles only with Headway.

// MARK: posts changes by name and by key path

private final class Posting: Operation, @unchecked Sendable {
  private enum Keys: String { case isExecuting, isFinished }
  func post() {
    willChangeValue(forKey: "isExecuting")
    didChangeValue(forKey: "isExecuting")
    willChangeValue(forKey: Keys.isFinished.rawValue)
    didChangeValue(forKey: Keys.isFinished.rawValue)
    willChangeValue(for: \.isReady)
    didChangeValue(for: \.isReady)
    willChangeValue(for: \Operation.isCancelled)
    didChangeValue(for: \Operation.isCancelled)
    self.willChangeValue(for: \.isExecuting)
    self.didChangeValue(for: \.isExecuting)
  }
}

// MARK: posts changes of another operation

private func wake(_ operation: Operation) {
  operation.willChangeValue(forKey: "isReady")
  operation.didChangeValue(forKey: "isReady")
  operation.willChangeValue(for: \.isReady)
  operation.didChangeValue(for: \.isReady)
}

// MARK: posts changes by an array of key paths

private class PostingAll: Operation, @unchecked Sendable {
  fileprivate func change(_ keyPaths: [KeyPath<Operation, Bool>], _ body: () -> Void) {
    keyPaths.forEach { willChangeValue(for: $0) }
    body()
    keyPaths.reversed().forEach { didChangeValue(for: $0) }
  }
  fileprivate func changeByName(_ names: String..., body: () -> Void) {
    names.forEach(willChangeValue(forKey:))
    body()
    names.forEach(didChangeValue)
  }
  func end() {
    change([\.isExecuting, \.isFinished]) {}
    changeByName("isExecuting", "isFinished") {}
  }
}

// MARK: posts changes by a key path of its own class
// Compiles: Headway
// Why: Foundation takes key paths of Operation only.

private final class OwnKeys: Operation, @unchecked Sendable {
  var level = 0 {
    willSet { willChangeValue(for: \OwnKeys.level) }
    didSet { didChangeValue(for: \OwnKeys.level) }
  }
}

// MARK: a property wrapper for states

@propertyWrapper private final class Locked<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value
  init(wrappedValue: Value) { value = wrappedValue }
  var wrappedValue: Value {
    get { lock.withLock { value } }
    set { lock.withLock { value = newValue } }
  }
}

private final class Wrapped: Operation, @unchecked Sendable {
  @Locked private var ended = false
  override var isFinished: Bool { ended }
  func finish() {
    willChangeValue(forKey: "isFinished")
    ended = true
    didChangeValue(forKey: "isFinished")
  }
}

// MARK: observes by key path
// Compiles: Headway
// Why: on Linux, Foundation has no key-value observing.

private final class Watcher: @unchecked Sendable {
  var observation: NSKeyValueObservation?
  var observations: [NSKeyValueObservation] = []
  var unique: Set<NSKeyValueObservation> = []
  func watch(_ operation: Operation, _ queue: OperationQueue) {
    observation = operation.observe(\.isFinished) { _, _ in print("ended") }
    observation = operation.observe(\.isFinished, options: [.new]) { operation, change in
      if change.newValue == true { print(operation) }
    }
    observations.append(
      queue.observe(\.operationCount, options: [.new, .old]) { [weak self] queue, change in
        print(queue, change.oldValue ?? 0, change.newValue ?? 0, self as Any)
      })
    observations.append(queue.observe(\OperationQueue.isSuspended, options: .initial) { queue, _ in print(queue) })
    observations += [operation.observe(\Operation.isReady, options: [.initial, .new]) { _, _ in }]
    unique.insert(queue.observe(\.operations) { _, _ in })
    observation?.invalidate()
    observation = nil
  }
}

// MARK: observes with what comes before a change, and its kind
// Compiles: Headway
// Why: on Linux, Foundation has no key-value observing.

private func watchAll(_ operation: Operation) -> NSKeyValueObservation {
  let options: NSKeyValueObservingOptions = [.prior, .old, .new]
  return operation.observe(\.isExecuting, options: options) { operation, change in
    if change.isPrior { return print("before", change.oldValue as Any) }
    switch change.kind {
    case .setting: print("set", change.newValue as Any)
    case .insertion, .removal, .replacement: break
    @unknown default: break
    }
  }
}

private func look(_ change: NSKeyValueObservedChange<Bool>, _ kind: NSKeyValueObservedChange<Bool>.Kind) -> Bool {
  change.kind == kind && change.kind == NSKeyValueChange.setting && !change.isPrior
}

// MARK: an operation that observes itself
// Compiles: Headway
// Why: on Linux, Foundation has no key-value observing.

private final class Introspective: Operation, @unchecked Sendable {
  private var token: NSKeyValueObservation?
  override init() {
    super.init()
    token = observe(\.isCancelled, options: [.new]) { operation, _ in operation.stop() }
  }
  func stop() {}
}

// MARK: observes by name
// Compiles: nowhere

private final class ByName: NSObject {
  func watch(_ operation: Operation) {
    operation.addObserver(self, forKeyPath: "isFinished", options: [], context: nil)
  }
}

// MARK: declares the keys that a key depends on

private final class Dependent: Operation, @unchecked Sendable {
  class func keyPathsForValuesAffectingIsReady() -> Set<String> { ["state"] }
  class func keyPathsForValuesAffectingIsExecuting() -> Set<NSObject> { ["state" as NSString] }
  class var automaticallyNotifiesObserversOfIsReady: Bool { false }
  class func automaticallyNotifiesObserversOfState() -> Bool { false }
}

// MARK: overrides the keys that affect others
// Compiles: Headway
// Why: on Linux, Foundation has no key-value observing.

open class CaseDependentOperation: Operation, @unchecked Sendable {
  override open class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    ["isReady", "isFinished", "isExecuting"].contains(key)
      ? ["state"] : super.keyPathsForValuesAffectingValue(forKey: key)
  }
  override open class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    key == "state" ? false : super.automaticallyNotifiesObservers(forKey: key)
  }
}

private final class DependentQueue: OperationQueue, @unchecked Sendable {
  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    var paths = super.keyPathsForValuesAffectingValue(forKey: key)
    if key == "isIdle" { paths.insert("operationCount") }
    return paths
  }
  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool { false }
}

// MARK: declares without override that keys notify automatically
// Compiles: Foundation
// Why: with Headway, as on Apple platforms, the class has that method.

private final class Automatic: Operation, @unchecked Sendable {
  class func automaticallyNotifiesObservers(forKey key: String) -> Bool { key != "isReady" }
}

// MARK: posts changes of a queue by name
// Compiles: Headway
// Why: on Linux, Foundation has no key-value observing.

private func suspend(_ queue: OperationQueue) {
  queue.willChangeValue(forKey: "isSuspended")
  queue.isSuspended = true
  queue.didChangeValue(forKey: "isSuspended")
}

private final class BusyQueue: OperationQueue, @unchecked Sendable {
  private(set) var isBusy = false {
    willSet { willChangeValue(forKey: "isBusy") }
    didSet { didChangeValue(forKey: "isBusy") }
  }
}
