import Headway

/// Makes operations of methods that it has anyway: no subclass, and nothing in the methods knows of operations.
final class OQCreateInvocationOperation: Sendable {
  typealias TaskOperation = InvocationOperation<OQCreateInvocationOperation, String, Int>

  func invocationOperation(data: String) -> TaskOperation {
    InvocationOperation(target: self, method: OQCreateInvocationOperation.myTaskMethod1, object: data)
  }

  /// Lets the user decide which method is called: the second one if nothing was entered.
  func invocationOperation(data: String, userInput: String) -> TaskOperation {
    let operation = invocationOperation(data: data)
    if userInput.isEmpty { operation.method = OQCreateInvocationOperation.myTaskMethod2 }
    return operation
  }

  func myTaskMethod1(data: String) -> Int {
    print("Start executing myTaskMethod1 with data: \(data)")
    defer { print("Finish executing myTaskMethod1") }
    return data.count
  }

  func myTaskMethod2(data: String) throws -> Int {
    print("Start executing myTaskMethod2 with data: \(data)")
    defer { print("Finish executing myTaskMethod2") }
    guard let number = Int(data) else { throw NotANumber(data: data) }
    return number
  }
}
