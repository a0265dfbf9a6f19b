import Headway

/// Creates operations from its existing methods: no subclass is needed, and the methods do not depend on operations.
final class OQCreateInvocationOperation: Sendable {
  typealias TaskOperation = InvocationOperation<OQCreateInvocationOperation, String, Int>

  func invocationOperation(data: String) -> TaskOperation {
    InvocationOperation(target: self, method: OQCreateInvocationOperation.myTaskMethod1, argument: data)
  }

  /// Selects the method by the user's input: the second one if nothing was entered.
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
