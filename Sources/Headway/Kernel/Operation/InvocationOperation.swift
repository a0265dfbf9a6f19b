import Synchronization

/// An operation that calls a method of an object with an argument, so that you don't need a subclass.
///
/// ```swift
/// final class Controller: Sendable {
///   func loadPage(_ number: Int) throws -> String { "page \(number)" }
///   func loadSortedPage(_ number: Int) throws -> String { "sorted page \(number)" }
/// }
///
/// let operation = InvocationOperation(target: Controller(), method: Controller.loadPage, argument: 3)
/// operation.method = Controller.loadSortedPage  // For instance when a person has made a choice.
/// queue.addOperations([operation], waitUntilFinished: true)
/// if let result = operation.result { print(try result.get()) }
/// ```
///
/// You can replace the method until the operation starts. The error that the method throws becomes the operation's
/// ``Operation/error``. The operation holds the target until it has finished. If it is cancelled before it starts, it
/// calls nothing.
public final class InvocationOperation<Target: AnyObject & Sendable, Argument: Sendable, Success: Sendable>: Operation,
  @unchecked Sendable
{
  /// A method as a function of the object that has it, such as `Controller.loadPage`.
  public typealias Method = @Sendable (Target) -> (Argument) throws -> Success

  private struct Invocation: Sendable {
    let target: Target
    var method: Method
    let argument: Argument
  }

  private struct State {
    /// The target, the method and the argument; nil after the operation has ended.
    var invocation: Invocation?
    /// Whether the method has been called or is being called.
    var isCalled = false
    var result: Result<Success, any Error>?
  }

  // Protected by its own lock. No function is called under it.
  private let invocationState: Guarded<State>

  /// Creates an operation that calls `method` of `target` with `argument`.
  ///
  /// - Parameters:
  ///   - target: The object that has the method.
  ///   - method: The method, named by its type: `Controller.loadPage`.
  ///   - argument: The argument of the method.
  public init(target: Target, method: @escaping Method, argument: Argument) {
    invocationState = Guarded(State(invocation: Invocation(target: target, method: method, argument: argument)))
  }

  /// Creates an operation that calls a method without arguments.
  ///
  /// - Parameters:
  ///   - target: The object that has the method.
  ///   - method: The method, named by its type: `Controller.reload`.
  public convenience init(target: Target, method: @escaping @Sendable (Target) -> () throws -> Success)
  where Argument == Void {
    self.init(target: target, method: { target in { _ in try method(target)() } }, argument: ())
  }

  deinit {
    ReleasedChain.release(
      invocationState.withLock { state in
        defer { state = State() }
        return state
      })
  }

  /// The method that the operation calls; nil after the method has been called, or if it never will be called.
  ///
  /// - Precondition: You set it to a method, not to nil, and before the operation starts.
  public var method: Method? {
    get { invocationState.withLock { $0.isCalled ? nil : $0.invocation }?.method }
    set {
      require(newValue != nil, "The method of \(self) was set to nil: cancel the operation instead.")
      // The old method is released after the lock, because that can run user code.
      let old = invocationState.withLock { state -> Method? in
        guard let method = newValue, !state.isCalled, let old = state.invocation?.method else { return nil }
        state.invocation?.method = method
        return old
      }
      require(old != nil, "The method of \(self) was set: replace it before the operation starts.")
    }
  }

  /// The value that the method returned, or the error that it threw; nil until the operation has run, or if it never
  /// runs.
  public var result: Result<Success, any Error>? { invocationState.withLock { $0.result } }

  /// Calls the method.
  ///
  /// Called once, by ``Operation/start()``.
  ///
  /// - Throws: The error that the method throws.
  public override func main() throws {
    guard let invocation = invocationToCall() else { return }
    let result = Result { try invocation.method(invocation.target)(invocation.argument) }
    invocationState.withLock { $0.result = result }
    _ = try result.get()
  }

  private func invocationToCall() -> Invocation? {
    invocationState.withLock { state in
      guard !state.isCalled else { return nil }
      state.isCalled = true
      return state.invocation
    }
  }

  override func releaseWork() {
    let invocation = invocationState.withLock { state in
      defer { state.invocation = nil }
      return state.invocation
    }
    withExtendedLifetime(invocation) {}  // Released after the lock.
  }
}
