/// The two links that join an operation to its neighbors in a list.
protocol OperationLinks {
  static subscript(next operation: OperationReference) -> OperationReference? { get set }
  static subscript(previous operation: OperationReference) -> OperationReference? { get set }
}

/// The links of the list of all operations of a queue.
enum MemberLinks: OperationLinks {
  static subscript(next operation: OperationReference) -> OperationReference? {
    get { operation.memberNext }
    set { operation.memberNext = newValue }
  }

  static subscript(previous operation: OperationReference) -> OperationReference? {
    get { operation.memberPrevious }
    set { operation.memberPrevious = newValue }
  }
}

/// The links of the list for an operation's place: the list of ready, running, or held back operations.
enum PlaceLinks: OperationLinks {
  static subscript(next operation: OperationReference) -> OperationReference? {
    get { operation.next }
    set { operation.next = newValue }
  }

  static subscript(previous operation: OperationReference) -> OperationReference? {
    get { operation.previous }
    set { operation.previous = newValue }
  }
}

/// A list of operations that uses links in the operations.
///
/// It needs no memory of its own. Each call takes constant time, except ``forEach(_:)``.
struct OperationList<Links: OperationLinks> {
  private(set) var first: OperationReference?
  private(set) var last: OperationReference?

  // Not by inserting behind the last operation, which would also read that operation's link.
  mutating func append(_ operation: OperationReference) {
    Links[previous: operation] = last
    Links[next: operation] = nil
    if let last { Links[next: last] = operation } else { first = operation }
    last = operation
  }

  /// Inserts an operation behind an operation of the list, or at the front.
  mutating func insert(_ operation: OperationReference, behind previous: OperationReference?) {
    let next = if let previous { Links[next: previous] } else { first }
    Links[previous: operation] = previous
    Links[next: operation] = next
    if let previous { Links[next: previous] = operation } else { first = operation }
    if let next { Links[previous: next] = operation } else { last = operation }
  }

  mutating func remove(_ operation: OperationReference) {
    let (previous, next) = (Links[previous: operation], Links[next: operation])
    if let previous { Links[next: previous] = next } else { first = next }
    if let next { Links[previous: next] = previous } else { last = previous }
    Links[previous: operation] = nil
    Links[next: operation] = nil
  }

  /// Appends all operations of another list.
  mutating func append(_ other: OperationList) {
    guard let otherFirst = other.first else { return }
    if let last { Links[next: last] = otherFirst } else { first = otherFirst }
    Links[previous: otherFirst] = last
    last = other.last
  }

  /// Calls `body` with each operation.
  ///
  /// `body` may remove that operation.
  func forEach(_ body: (OperationReference) -> Void) {
    var position = first
    while let operation = position {
      position = Links[next: operation]
      body(operation)
    }
  }
}
