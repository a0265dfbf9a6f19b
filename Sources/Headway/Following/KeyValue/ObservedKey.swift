/// The key of a property that can change.
enum ObservedKey: Equatable, Sendable {
  // Of operations.
  case isCancelled, isAsynchronous, isExecuting, isFinished, isReady, dependencies, queuePriority, completionBlock
  // Of queues.
  case operations, operationCount, maxConcurrentOperationCount, isSuspended
  /// An event for the listeners to a queue's events.
  case event
  // Of both.
  case name
  /// A property that a subclass has added.
  case own(OwnKeyPath)
  /// A property that was named by a string and is none of the properties above.
  case unknown

  /// Creates the key for a name, with or without the prefix `is`.
  init(name: String) {
    switch name {
    case "isCancelled", "cancelled": self = .isCancelled
    case "isAsynchronous", "asynchronous", "isConcurrent", "concurrent": self = .isAsynchronous
    case "isExecuting", "executing": self = .isExecuting
    case "isFinished", "finished": self = .isFinished
    case "isReady", "ready": self = .isReady
    case "isSuspended", "suspended": self = .isSuspended
    case "dependencies": self = .dependencies
    case "queuePriority": self = .queuePriority
    case "completionBlock": self = .completionBlock
    case "operations": self = .operations
    case "operationCount": self = .operationCount
    case "maxConcurrentOperationCount": self = .maxConcurrentOperationCount
    case "name": self = .name
    default: self = .unknown
    }
  }

  /// The names of the property in key-value observing; none for a property that a subclass has added.
  var names: [String] {
    switch self {
    case .isCancelled: ["isCancelled", "cancelled"]
    case .isAsynchronous: ["isAsynchronous", "isConcurrent", "asynchronous", "concurrent"]
    case .isExecuting: ["isExecuting", "executing"]
    case .isFinished: ["isFinished", "finished"]
    case .isReady: ["isReady", "ready"]
    case .isSuspended: ["isSuspended", "suspended"]
    case .dependencies: ["dependencies"]
    case .queuePriority: ["queuePriority"]
    case .completionBlock: ["completionBlock"]
    case .operations: ["operations"]
    case .operationCount: ["operationCount"]
    case .maxConcurrentOperationCount: ["maxConcurrentOperationCount"]
    case .name: ["name"]
    case .event, .own, .unknown: []
    }
  }

  /// Creates the key for a key path of an operation.
  ///
  /// A final subclass that overrides the property has its own key path for it, which is not recognized: its observers
  /// evaluate every change.
  init<Object: Operation>(_ keyPath: AnyKeyPath, of type: Object.Type) {
    self.init(keyPath) { ObservedKey(comparing: keyPath, of: type) }
  }

  /// Creates the key for a key path of a queue.
  init<Object: OperationQueue>(_ keyPath: AnyKeyPath, of type: Object.Type) {
    self.init(keyPath) { ObservedKey(comparing: keyPath, of: type) }
  }

  /// Uses the key that was previously found for the key path, or the key that `compare` finds.
  private init(_ keyPath: AnyKeyPath, _ compare: () -> ObservedKey) {
    if let known = KnownKeyPaths.key(of: keyPath) {
      self = known
    } else {
      self = compare()
      KnownKeyPaths.note(self, of: keyPath)
    }
  }

  private init<Object: Operation>(comparing keyPath: AnyKeyPath, of: Object.Type) {
    switch keyPath {
    case \Object.isCancelled: self = .isCancelled
    case \Object.isAsynchronous, \Object.isConcurrent: self = .isAsynchronous
    case \Object.isExecuting: self = .isExecuting
    case \Object.isFinished: self = .isFinished
    case \Object.isReady: self = .isReady
    case \Object.dependencies: self = .dependencies
    case \Object.queuePriority: self = .queuePriority
    case \Object.completionBlock: self = .completionBlock
    case \Object.name: self = .name
    default: self = .own(OwnKeyPath(keyPath))
    }
  }

  private init<Object: OperationQueue>(comparing keyPath: AnyKeyPath, of: Object.Type) {
    switch keyPath {
    case \Object.operations: self = .operations
    case \Object.operationCount: self = .operationCount
    case \Object.maxConcurrentOperationCount: self = .maxConcurrentOperationCount
    case \Object.isSuspended: self = .isSuspended
    case \Object.name: self = .name
    default: self = .own(OwnKeyPath(keyPath))
    }
  }
}

extension ObservedKey {
  /// A set of keys, which has one member for all properties that subclasses have added.
  struct Set: OptionSet {
    let rawValue: UInt16

    init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Creates a set of one key.
    init(_ key: ObservedKey) {
      let position: UInt16 =
        switch key {
        case .isCancelled: 0
        case .isAsynchronous: 1
        case .isExecuting: 2
        case .isFinished: 3
        case .isReady: 4
        case .dependencies: 5
        case .queuePriority: 6
        case .completionBlock: 7
        case .operations: 8
        case .operationCount: 9
        case .maxConcurrentOperationCount: 10
        case .isSuspended: 11
        case .event: 12
        case .name: 13
        case .own: 14
        case .unknown: 15
        }
      rawValue = 1 << position
    }
  }

  /// The keys whose changes can concern an observer of this key.
  ///
  /// For a property that a subclass has added, these are all keys, because Headway can't determine which properties
  /// affect it.
  var affectingKeys: Set { if case .own = self { Set(rawValue: .max) } else { Set(self) } }
}

/// A key path as a value that can be passed between threads.
struct OwnKeyPath: Equatable, @unchecked Sendable {  // A key path never changes.
  private let keyPath: AnyKeyPath

  init(_ keyPath: AnyKeyPath) { self.keyPath = keyPath }
}
