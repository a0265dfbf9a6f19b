/// The place of an operation in its queue's lists.
///
/// Protected by the queue's lock.
struct AdmissionRecord {
  /// The places in a queue.
  ///
  /// An operation has exactly one place at a time.
  enum Place: UInt8 {
    /// In no queue, or no longer in one.
    case none
    /// Waiting for dependencies, or a barrier.
    case waiting
    /// Held back by an override of `isReady`, which is evaluated again when another operation is added, finishes or
    /// posts a change.
    case heldBack
    /// Held back by its policy, or waiting for its resources; the queue is notified when the operation can continue.
    case gated
    /// In a list of ready operations.
    case ready
    /// Has its resources and its slot. Starts when a worker arrives.
    case granted
    /// In a batch: about to start, or started.
    case taken
    /// Among the cancelled operations that start without regard to limits.
    case cancelled
    /// Among the cancelled operations that have code of their class to run.
    ///
    /// They start within the limit, before all others.
    case cancelledWithinLimit
    /// Started outside a batch and counted against the limit.
    case running
    /// Started because it was cancelled, and not counted.
    case leaving
  }

  var place = Place.none
  /// The class of workers whose list of ready operations contains the operation.
  var workerClass = WorkerClass.normal
  /// The priority level of the operation in that list.
  var readyLevel: UInt8 = 0
  private var flags = Flags()

  /// Flags in one byte, which keeps an operation as small as possible.
  private struct Flags: OptionSet {
    let rawValue: UInt8
    static let returned = Flags(rawValue: 1)
    static let inHeap = Flags(rawValue: 2)
    static let endedOutside = Flags(rawValue: 4)
    static let urgentUtility = Flags(rawValue: 8)
    static let urgentNormal = Flags(rawValue: 16)
    static let passedUtility = Flags(rawValue: 32)
    static let passedNormal = Flags(rawValue: 64)
    static let representative = Flags(rawValue: 128)

    subscript(_ flag: Flags) -> Bool {
      get { contains(flag) }
      set { if newValue { insert(flag) } else { remove(flag) } }
    }
  }

  /// Whether the operation was in a batch and was put back.
  var wasReturned: Bool {
    get { flags[.returned] }
    set { flags[.returned] = newValue }
  }

  /// Whether the operation represents its lane among the ready operations.
  var isRepresentative: Bool {
    get { flags[.representative] }
    set { flags[.representative] = newValue }
  }

  /// Whether the operation ended and left the queue before the queue accepted it from the inbox.
  var hasEndedOutside: Bool {
    get { flags[.endedOutside] }
    set { flags[.endedOutside] = newValue }
  }

  /// The class of the operation among the urgent operations of a list; the lowest class if it is not counted there.
  var urgency: WorkerClass {
    get {
      guard isUrgent else { return .background }
      return flags[.urgentNormal] ? .normal : .utility
    }
    set {
      flags[.urgentUtility] = newValue == .utility
      flags[.urgentNormal] = newValue == .normal
    }
  }

  /// Whether the operation is more urgent than its queue.
  var isUrgent: Bool { !flags.isDisjoint(with: [.urgentUtility, .urgentNormal]) }

  /// The class that this operation and all earlier operations have been raised to because of a later operation; the
  /// lowest class if they have not been raised.
  var passedClass: WorkerClass {
    get { flags[.passedNormal] ? .normal : flags[.passedUtility] ? .utility : .background }
    set {
      flags[.passedUtility] = newValue == .utility
      flags[.passedNormal] = newValue == .normal
    }
  }

  /// Whether the operation is in its level's heap of ready operations, not in its list.
  var isInHeap: Bool {
    get { flags[.inHeap] }
    set { flags[.inHeap] = newValue }
  }
}
