/// The dependents that require an operation to succeed, in the order of adding.
///
/// One that does not wait for the operation any more is not here: it is taken out with its edge, in constant time, so
/// that an operation that does not end keeps nothing of those that come and go. Protected by the lock of the
/// operation's links.
final class SuccessDependents {
  @exclusivity(unchecked) private var list = IdentityList<WeakOperation>()

  var elements: [WeakOperation] { list.elements }

  /// Lists an operation, which the caller holds, unless it is here.
  func insert(_ dependent: Operation) {
    let element = WeakOperation(dependent)
    // If there is an operation, it is this one, so to look at it drops no last reference.
    if let listed = list.element(equalTo: element), listed.operation != nil { return }
    _ = list.remove(element)
    list.append(element)
  }

  /// Takes an operation out, which may be about to be freed, if it is here.
  func remove(_ dependent: OperationReference) { _ = list.remove(WeakOperation(identityOf: dependent)) }

  /// Calls `body` with each that has not been freed.
  func forEach(_ body: (Operation) -> Void) {
    list.forEach { if let operation = $0.operation { body(operation) } }
  }
}
