import Dispatch
public import Foundation
public import Headway
import Synchronization

/// Five tasks of ten items each, run by a technique.
///
/// Create a run and call ``start()``. The process must serve its main queue. Events are reported on the thread where
/// they occur. `finished` is reported once, after everything else.
public final class TechniqueRun: Sendable {
  /// The technique.
  public let technique: Technique
  /// The number of tasks.
  public let taskCount: Int
  private let screen: Screen
  private let controller: any TechniqueController
  private let count: Count
  // Whether all tasks were cancelled, and none is suspended any longer. Protected by its lock.
  private let isCancelled = Mutex(false)

  /// Creates a run that has not started.
  ///
  /// - Parameters:
  ///   - technique: The technique to run.
  ///   - taskCount: The number of tasks.
  ///   - itemCount: The number of items that a task creates.
  ///   - work: A closure that does the work of an item.
  ///   - report: Called with each event, on the thread where it occurs.
  public init(
    _ technique: Technique, taskCount: Int = 5, itemCount: Int = 10,
    work: @escaping @Sendable () -> Void = { Thread.sleep(forTimeInterval: 0.1) },
    report: @escaping @Sendable (TaskEvent) -> Void
  ) {
    self.technique = technique
    self.taskCount = taskCount
    // Completion blocks run after the operation has finished. They are part of the run.
    let count = Count(technique == .concurrent ? 2 * taskCount : taskCount)
    self.count = count
    screen = Screen(taskCount: taskCount, itemCount: itemCount, work: work) { event in
      report(event)
      count.note(event)
    }
    controller = technique.makeController(screen)
    count.onEnd = { [weak screen] in screen?.finished() }
    for (index, operation) in (controller.processing?.operations ?? []).enumerated() {
      // While all operations are cancelled one after the other, an operation that waits for a cancelled one might end
      // before it is cancelled itself.
      count.observe(operation) { [screen] in
        screen.ended(index + 1, isCancelled: $0 || screen.isCancelled(index + 1))
      }
    }
  }

  /// Starts on the main queue.
  ///
  /// Must be called once.
  public func start() {
    let controller = controller
    DispatchQueue.main.async { controller.viewDidAppear() }
  }

  // MARK: Control

  /// Cancels all tasks.
  ///
  /// Running tasks stop after their current item.
  public func cancel() {
    isCancelled.withLock { $0 = true }
    for task in 1...taskCount { screen.cancel(task) }
    controller.processing?.operations.forEach { $0.cancel() }
    // A dispatch queue runs the cancelled tasks, which then do nothing.
    release()
  }

  /// Cancels a task.
  ///
  /// - Parameter task: The number of the task, starting at 1.
  public func cancel(task: Int) {
    guard 1...taskCount ~= task else { return }
    screen.cancel(task)
    operation(task)?.cancel()
  }

  /// Suspends or resumes tasks that have not started.
  ///
  /// - Parameter isSuspended: Whether they are suspended.
  public func setSuspended(_ isSuspended: Bool) {
    if technique.controls.contains(.suspension) { controller.setSuspended(isSuspended) }
    // The run might have been cancelled before, or since this method was called.
    if isCancelled.withLock({ $0 }) { release() }
  }

  private func release() {
    if controller.processing == nil { controller.setSuspended(false) }
  }

  /// Changes how many tasks run at the same time, while they are running.
  ///
  /// - Parameter limit: The number of tasks. -1 means that the queue chooses it.
  public func setMaximumConcurrency(_ limit: Int) {
    controller.processing?.queue.maxConcurrentOperationCount = limit
  }

  /// Changes the priority of a waiting task.
  ///
  /// - Parameters:
  ///   - priority: The priority from now on.
  ///   - task: The number of the task, starting at 1.
  /// - Returns: Whether the task is waiting and has a priority.
  @discardableResult public func setPriority(_ priority: QueuePriority, of task: Int) -> Bool {
    guard let operation = operation(task), operation.isWaiting else { return false }
    operation.queuePriority = priority
    return true
  }

  /// Makes a waiting task depend on another.
  ///
  /// - Parameters:
  ///   - task: The number of the task that waits, starting at 1.
  ///   - other: The number of the task that it waits for.
  /// - Returns: Whether the dependency was added. It is not added if one of the tasks has started, or if the tasks
  ///   would wait for each other.
  @discardableResult public func addDependency(of task: Int, on other: Int) -> Bool {
    guard task != other, let operation = operation(task), let dependency = self.operation(other),
      operation.isWaiting, dependency.isWaiting, !operation.dependencies.contains(where: { $0 === dependency })
    else { return false }
    operation.addDependency(dependency)
    guard operation.firstDependencyCycle() == nil else {
      operation.removeDependency(dependency)
      return false
    }
    return true
  }

  // MARK: Questions

  /// Returns the reason why a task does not run, or its current work.
  ///
  /// - Parameter task: The number of the task, starting at 1.
  /// - Returns: The description as a sentence. Nil if the technique has no operations.
  public func diagnosis(of task: Int) -> String? { operation(task)?.diagnosis }

  /// The numbers of the tasks that each task waits for.
  public var dependencies: [Int: [Int]] {
    let operations = controller.processing?.operations ?? []
    var dependencies: [Int: [Int]] = [:]
    for (index, operation) in operations.enumerated() {
      dependencies[index + 1] = operation.dependencies.compactMap { other in
        operations.firstIndex { $0 === other }.map { $0 + 1 }
      }
    }
    return dependencies
  }

  private func operation(_ task: Int) -> Headway.Operation? {
    guard let operations = controller.processing?.operations, 1...operations.count ~= task else { return nil }
    return operations[task - 1]
  }
}

extension Headway.Operation {
  fileprivate var isWaiting: Bool { !isExecuting && !isFinished && !isCancelled }
}

/// Counts the remaining ends of tasks and of completion blocks.
private final class Count: Sendable {
  private struct State {
    var left: Int
    var tokens: [KeyValueObservation] = []
    var onEnd: (@Sendable () -> Void)?
  }

  // Protected by its lock.
  private let state: Mutex<State>

  init(_ count: Int) { state = Mutex(State(left: count)) }

  var onEnd: (@Sendable () -> Void)? {
    get { state.withLock { $0.onEnd } }
    set { state.withLock { $0.onEnd = newValue } }
  }

  /// Calls `end` when the operation has finished, with whether it was cancelled.
  func observe(_ operation: Headway.Operation, _ end: @escaping @Sendable (Bool) -> Void) {
    let token = operation.observe(\.isFinished) { operation, _ in
      if operation.isFinished { end(operation.isCancelled) }
    }
    state.withLock { $0.tokens.append(token) }
  }

  func note(_ event: TaskEvent) {
    switch event.kind {
    case .ended, .completed: break
    case .began, .added, .shown, .finished: return
    }
    let onEnd = state.withLock { state -> (@Sendable () -> Void)? in
      state.left -= 1
      return state.left == 0 ? state.onEnd.take() : nil
    }
    guard let onEnd else { return }
    // After everything that the tasks still show: some use the main operation queue, others the main dispatch queue.
    Headway.OperationQueue.main.addOperation {
      DispatchQueue.main.async { onEnd() }
    }
  }
}
