import Dispatch
public import Foundation
public import Headway
import Synchronization

/// Five tasks of ten items each, run by a technique.
///
/// Make it, and call ``start()``; the process must serve its main queue. What happens is reported on the thread where
/// it happens, and `finished` once, after everything else.
public final class TechniqueRun: Sendable {
  /// The technique.
  public let technique: Technique
  /// How many tasks there are.
  public let taskCount: Int
  private let screen: Screen
  private let controller: any TechniqueController
  private let count: Count
  // Protected by its lock: whether all was cancelled, and nothing is held back any more.
  private let isCancelled = Mutex(false)

  /// Makes a run that has not started.
  ///
  /// - Parameters:
  ///   - technique: The technique.
  ///   - taskCount: How many tasks there are.
  ///   - itemCount: How many items a task makes.
  ///   - work: The work of an item.
  ///   - report: Is called with what happens, on the thread where it does.
  public init(
    _ technique: Technique, taskCount: Int = 5, itemCount: Int = 10,
    work: @escaping @Sendable () -> Void = { Thread.sleep(forTimeInterval: 0.1) },
    report: @escaping @Sendable (TaskEvent) -> Void
  ) {
    self.technique = technique
    self.taskCount = taskCount
    // Completion blocks run after the operation has finished, and are a part of the run.
    let count = Count(technique == .concurrent ? 2 * taskCount : taskCount)
    self.count = count
    screen = Screen(taskCount: taskCount, itemCount: itemCount, work: work) { event in
      report(event)
      count.note(event)
    }
    controller = technique.makeController(screen)
    count.onEnd = { [weak screen] in screen?.finished() }
    for (index, operation) in (controller.processing?.operations ?? []).enumerated() {
      // While all are cancelled one after the other, one that waits for a cancelled one may end before its own turn.
      count.observe(operation) { [screen] in
        screen.ended(index + 1, isCancelled: $0 || screen.isCancelled(index + 1))
      }
    }
  }

  /// Starts on the main queue; it is called once.
  public func start() {
    let controller = controller
    DispatchQueue.main.async { controller.viewDidAppear() }
  }

  // MARK: Control

  /// Cancels all tasks: those that run stop after their item.
  public func cancel() {
    isCancelled.withLock { $0 = true }
    for task in 1...taskCount { screen.cancel(task) }
    controller.processing?.operations.forEach { $0.cancel() }
    // A dispatch queue runs what was cancelled, which then does nothing.
    release()
  }

  /// Cancels a task.
  ///
  /// - Parameter task: Its number, from 1.
  public func cancel(task: Int) {
    guard 1...taskCount ~= task else { return }
    screen.cancel(task)
    operation(task)?.cancel()
  }

  /// Holds back tasks that have not started, or lets them start.
  ///
  /// - Parameter isSuspended: Whether they are held back.
  public func setSuspended(_ isSuspended: Bool) {
    if technique.controls.contains(.suspension) { controller.setSuspended(isSuspended) }
    // It may have been cancelled before, or meanwhile.
    if isCancelled.withLock({ $0 }) { release() }
  }

  private func release() {
    if controller.processing == nil { controller.setSuspended(false) }
  }

  /// Changes how many tasks run at the same time, while they do.
  ///
  /// - Parameter limit: How many, or -1 for as many as the queue thinks best.
  public func setMaximumConcurrency(_ limit: Int) {
    controller.processing?.queue.maxConcurrentOperationCount = limit
  }

  /// Changes which of the tasks that wait comes first.
  ///
  /// - Parameters:
  ///   - priority: The priority.
  ///   - task: The number of the task, from 1.
  /// - Returns: Whether it waits, and has a priority.
  @discardableResult public func setPriority(_ priority: QueuePriority, of task: Int) -> Bool {
    guard let operation = operation(task), operation.isWaiting else { return false }
    operation.queuePriority = priority
    return true
  }

  /// Makes a task that waits wait for another.
  ///
  /// - Parameters:
  ///   - task: The number of the one that is to wait, from 1.
  ///   - other: The number of the one for which it waits.
  /// - Returns: Whether it does: not if one of them has started, nor if they would wait for each other.
  @discardableResult public func addDependency(of task: Int, on other: Int) -> Bool {
    guard task != other, let operation = operation(task), let dependency = self.operation(other),
      operation.isWaiting, dependency.isWaiting, !operation.dependencies.contains(where: { $0 === dependency })
    else { return false }
    operation.addDependency(dependency)
    guard operation.dependencyCycle() == nil else {
      operation.removeDependency(dependency)
      return false
    }
    return true
  }

  // MARK: Questions

  /// Why a task does not run, or what it does, in words.
  ///
  /// - Parameter task: Its number, from 1.
  /// - Returns: A sentence, or nil if the technique has no operations.
  public func diagnosis(of task: Int) -> String? {
    guard let operation = operation(task) else { return nil }
    return controller.processing?.queue.diagnose(operation)
  }

  /// For which tasks each waits, by the numbers of the tasks.
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

/// Counts the ends that are still to come: of tasks, and of completion blocks.
private final class Count: Sendable {
  private struct State {
    var left: Int
    var tokens: [ObservationToken] = []
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
    // Behind what the tasks still show: some by the main operation queue, others by the main dispatch queue.
    Headway.OperationQueue.main.addOperation {
      DispatchQueue.main.async { onEnd() }
    }
  }
}
