/// Where an operation stands in its queue's books.
///
/// Protected by the queue's lock.
struct AdmissionRecord {
  /// Where the operation stands in its queue.
  enum Place: UInt8 {
    /// In no queue, or no longer.
    case none
    /// Held back: by its dependencies, or being a barrier.
    case held
    /// In a list of ready operations.
    case ready
    /// In a worker's run: about to be started, or started.
    case taken
    /// Among the cancelled, which are started without regard to limits.
    case cancelled
    /// Started, and counted against the limit.
    case running
    /// Started because it was cancelled; not counted.
    case leaving
  }

  var place = Place.none
  /// Whether this is a barrier.
  var isBarrier = false
  /// The priority level under which the operation stands in the list of ready ones.
  var readyLevel: UInt8 = 0
  /// Whether it stands in that level's heap rather than in its list.
  var isInHeap = false
}

/// What joins an operation to its queue, and to others in the queue's lists.
///
/// Protected by the queue's lock, `home` excepted.
///
/// The links do not own: the queue owns every operation in its lists, so a linked operation is alive.
struct QueueLinks {
  /// The queue; set before the operation says that it is enqueued, and not changed afterwards.
  var home: Unmanaged<OperationQueue>?
  /// The number under which the queue took the operation in: the order of adding.
  var sequence: UInt64 = 0

  // The list of all that the queue holds, in the order of adding.
  var heldNext: OperationReference?
  var heldPrevious: OperationReference?

  // The list or heap in which the operation waits. In a list: its neighbours. In a heap: the next sibling; the sibling
  // before, or the parent of a first child; and the first child.
  var next: OperationReference?
  var previous: OperationReference?
  var child: OperationReference?
}

/// An operation that something else keeps alive: in the lists of its queue, which the queue owns.
///
/// Following such references retains and releases nothing, which would cost more than all else that is done to a list.
typealias OperationReference = Unmanaged<Operation>

extension OperationReference {
  init(_ operation: Operation) { self = .passUnretained(operation) }

  var operation: Operation { takeUnretainedValue() }

  func isSame(as other: OperationReference?) -> Bool { toOpaque() == other?.toOpaque() }

  // MARK: The operation's record

  var sequence: UInt64 { _withUnsafeGuaranteedRef { $0.queueLinks.sequence } }

  var isInHeap: Bool {
    get { _withUnsafeGuaranteedRef { $0.admission.isInHeap } }
    nonmutating set { _withUnsafeGuaranteedRef { $0.admission.isInHeap = newValue } }
  }

  var next: OperationReference? {
    get { _withUnsafeGuaranteedRef { $0.queueLinks.next } }
    nonmutating set { _withUnsafeGuaranteedRef { $0.queueLinks.next = newValue } }
  }

  var previous: OperationReference? {
    get { _withUnsafeGuaranteedRef { $0.queueLinks.previous } }
    nonmutating set { _withUnsafeGuaranteedRef { $0.queueLinks.previous = newValue } }
  }

  var child: OperationReference? {
    get { _withUnsafeGuaranteedRef { $0.queueLinks.child } }
    nonmutating set { _withUnsafeGuaranteedRef { $0.queueLinks.child = newValue } }
  }

  var heldNext: OperationReference? {
    get { _withUnsafeGuaranteedRef { $0.queueLinks.heldNext } }
    nonmutating set { _withUnsafeGuaranteedRef { $0.queueLinks.heldNext = newValue } }
  }

  var heldPrevious: OperationReference? {
    get { _withUnsafeGuaranteedRef { $0.queueLinks.heldPrevious } }
    nonmutating set { _withUnsafeGuaranteedRef { $0.queueLinks.heldPrevious = newValue } }
  }
}
