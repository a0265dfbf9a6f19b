/// Where an operation is in its queue's lists.
///
/// Protected by the queue's lock.
struct AdmissionRecord {
  /// The places, of which an operation of a queue has one at a time.
  enum Place: UInt8 {
    /// In no queue, or no longer.
    case none
    /// It waits for its dependencies, or is a barrier.
    case waiting
    /// An override of `isReady` holds it back; among those that are asked again when another comes in.
    case heldBack
    /// In a list of ready operations.
    case ready
    /// In a batch: about to be started, or started.
    case taken
    /// Among the cancelled, which are started without regard to limits.
    case cancelled
    /// Among the cancelled that have code of their own to run, and so are started within the limit, before all others.
    case cancelledWithinLimit
    /// Started by itself, and counted against the limit.
    case running
    /// Started because it was cancelled; not counted.
    case leaving
  }

  var place = Place.none
  /// The class of workers in whose list of ready operations it is.
  var workerClass = WorkerClass.normal
  /// The priority level under which it is in that list.
  var readyLevel: UInt8 = 0
  private var flags = Flags()

  /// In one byte, with which an operation is as small as it can be.
  private struct Flags: OptionSet {
    let rawValue: UInt8
    static let returned = Flags(rawValue: 1)
    static let inHeap = Flags(rawValue: 2)
    static let endedOutside = Flags(rawValue: 4)
    static let urgentUtility = Flags(rawValue: 8)
    static let urgentNormal = Flags(rawValue: 16)
    static let passedUtility = Flags(rawValue: 32)
    static let passedNormal = Flags(rawValue: 64)

    subscript(_ flag: Flags) -> Bool {
      get { contains(flag) }
      set { if newValue { insert(flag) } else { remove(flag) } }
    }
  }

  /// Whether it was in a batch, and was put back.
  var wasReturned: Bool {
    get { flags[.returned] }
    set { flags[.returned] = newValue }
  }

  /// Whether it has ended, and has left the queue, before it came into the inbox.
  var hasEndedOutside: Bool {
    get { flags[.endedOutside] }
    set { flags[.endedOutside] = newValue }
  }

  /// Its class among the urgent operations of a list; the lowest if it is not counted there.
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

  /// Whether it is more urgent than its queue.
  var isUrgent: Bool { !flags.isDisjoint(with: [.urgentUtility, .urgentNormal]) }

  /// This operation and all that were added before it have been raised to this class for a later one; the lowest if
  /// they have not been raised.
  var passedClass: WorkerClass {
    get { flags[.passedNormal] ? .normal : flags[.passedUtility] ? .utility : .background }
    set {
      flags[.passedUtility] = newValue == .utility
      flags[.passedNormal] = newValue == .normal
    }
  }

  /// Whether it is in its level's heap of ready operations rather than in its list.
  var isInHeap: Bool {
    get { flags[.inHeap] }
    set { flags[.inHeap] = newValue }
  }
}
