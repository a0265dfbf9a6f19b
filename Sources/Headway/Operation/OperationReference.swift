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
  var memberNext: OperationReference?
  var memberPrevious: OperationReference?

  // The list or heap in which the operation waits, or that of the running ones. In a list: its neighbours. In a heap:
  // the next sibling; the sibling before, or the parent of a first child; and the first child.
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

  var memberNext: OperationReference? {
    get { _withUnsafeGuaranteedRef { $0.queueLinks.memberNext } }
    nonmutating set { _withUnsafeGuaranteedRef { $0.queueLinks.memberNext = newValue } }
  }

  var memberPrevious: OperationReference? {
    get { _withUnsafeGuaranteedRef { $0.queueLinks.memberPrevious } }
    nonmutating set { _withUnsafeGuaranteedRef { $0.queueLinks.memberPrevious = newValue } }
  }
}
