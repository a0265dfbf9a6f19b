/// The references from an operation to its queue, and to its neighbors in the queue's lists.
///
/// Protected by the queue's lock, except `home`.
///
/// The references do not own operations. The queue owns every operation in its lists, so a referenced operation is
/// alive.
struct QueueLinks {
  /// The queue.
  ///
  /// It is set before the operation is enqueued, and never changed afterwards.
  var home: Unmanaged<OperationQueue>?
  /// The number that the queue assigned to the operation when it accepted it, in the order of adding.
  var sequence: UInt64 = 0

  // The neighbors in the list of all members of the queue, in the order of adding.
  var memberNext: OperationReference?
  var memberPrevious: OperationReference?

  // The neighbors in the list or heap that the operation waits in, or in the list of running operations. In a list: the
  // next and the previous operation. In a heap: the next sibling; the previous sibling, or the parent of a first child;
  // and the first child.
  var next: OperationReference?
  var previous: OperationReference?
  var child: OperationReference?
}

/// A reference to an operation that something else keeps alive, such as an operation in the lists of its queue, which
/// owns it.
///
/// Using such a reference retains and releases nothing. Retaining and releasing would cost more than all other work on
/// a list.
typealias OperationReference = Unmanaged<Operation>

extension OperationReference {
  init(_ operation: Operation) { self = .passUnretained(operation) }

  var operation: Operation { takeUnretainedValue() }

  func isSame(as other: OperationReference?) -> Bool { toOpaque() == other?.toOpaque() }

  // MARK: The operation's record

  var sequence: UInt64 { _withUnsafeGuaranteedRef { $0.queueLinks.sequence } }

  /// The number that orders ready operations of the same priority: the turn of the lane that the operation represents,
  /// or the number of the operation if it represents none.
  var turn: UInt64 {
    _withUnsafeGuaranteedRef { operation in
      operation.admission.isRepresentative ? operation.laneTurn : operation.queueLinks.sequence
    }
  }

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
