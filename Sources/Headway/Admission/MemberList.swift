/// Operations of a queue: an intrusive list, which owns them.
struct MemberList {
  private(set) var first: OperationReference?
  private(set) var last: OperationReference?
  private(set) var count = 0

  /// Takes over the ownership of an operation.
  mutating func append(_ reference: OperationReference) { insert(reference, behind: last) }

  /// Takes over the ownership of an operation, behind one of the list, or in front of all.
  mutating func insert(_ reference: OperationReference, behind previous: OperationReference?) {
    let next = previous.map { $0.memberNext } ?? first
    reference.memberPrevious = previous
    reference.memberNext = next
    if let previous { previous.memberNext = reference } else { first = reference }
    if let next { next.memberPrevious = reference } else { last = reference }
    count += 1
  }

  /// Gives up ownership: the caller must release the result, once no lock is held.
  mutating func remove(_ operation: Operation) -> OperationReference {
    let reference = OperationReference(operation)
    let (previous, next) = (reference.memberPrevious, reference.memberNext)
    if let previous { previous.memberNext = next } else { first = next }
    if let next { next.memberPrevious = previous } else { last = previous }
    reference.memberPrevious = nil
    reference.memberNext = nil
    count -= 1
    return reference
  }

  func forEach(_ body: (OperationReference) -> Void) {
    var position = first
    while let reference = position {
      position = reference.memberNext
      body(reference)
    }
  }
}

/// The operations that a queue has started one by one, in one list for each class so that a class can be raised.
struct RunningOperations {
  private var normal = OperationChain()
  private var utility = OperationChain()
  private var background = OperationChain()

  subscript(workerClass: WorkerClass) -> OperationChain {
    _read {
      switch workerClass {
      case .normal: yield normal
      case .utility: yield utility
      case .background: yield background
      }
    }
    _modify {
      switch workerClass {
      case .normal: yield &normal
      case .utility: yield &utility
      case .background: yield &background
      }
    }
  }

  func forEach(_ body: (OperationReference) -> Void) {
    normal.forEach(body)
    utility.forEach(body)
    background.forEach(body)
  }
}

/// Operations of a queue that are in none of its lists of ready ones: an intrusive list, which does not own them.
struct OperationChain {
  private(set) var first: OperationReference?
  private var last: OperationReference?

  mutating func append(_ operation: OperationReference) {
    operation.previous = last
    operation.next = nil
    if let last { last.next = operation } else { first = operation }
    last = operation
  }

  mutating func remove(_ operation: OperationReference) {
    let (previous, next) = (operation.previous, operation.next)
    if let previous { previous.next = next } else { first = next }
    if let next { next.previous = previous } else { last = previous }
    operation.previous = nil
    operation.next = nil
  }

  func forEach(_ body: (OperationReference) -> Void) {
    var position = first
    while let operation = position {
      position = operation.next
      body(operation)
    }
  }
}
