/// The dependents that require an operation to succeed, in insertion order.
///
/// A dependent that no longer waits for the operation is not in the list. It is removed together with its edge, in
/// constant time, so an operation that does not end keeps nothing of dependents that are added and removed. Protected
/// by the lock of the operation's links.
final class SuccessDependents {
  @exclusivity(unchecked) private var list = IdentityList<WeakOperation>()

  var elements: [WeakOperation] { list.elements }

  /// Adds an operation, which the caller retains, unless it is already in the list.
  func insert(_ dependent: Operation) {
    let element = WeakOperation(dependent)
    // If the element still has an operation, it is this one, so reading it does not release the last reference.
    if let listed = list.element(equalTo: element), listed.operation != nil { return }
    _ = list.remove(element)
    list.append(element)
  }

  /// Removes an operation, which may be about to be freed, if the list contains it.
  func remove(_ dependent: OperationReference) { _ = list.remove(WeakOperation(identityOf: dependent)) }

  /// Calls `body` with each dependent that has not been freed.
  func forEach(_ body: (Operation) -> Void) {
    list.forEach { if let operation = $0.operation { body(operation) } }
  }
}
