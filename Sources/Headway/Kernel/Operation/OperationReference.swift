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
