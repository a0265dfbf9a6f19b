import Foundation
import Synchronization

/// The common parts of all techniques: the work of an item, and the destination of their reports.
///
/// It replaces the sample's table view and its log.
final class Screen: Sendable {
  let taskCount: Int
  let itemCount: Int
  private let work: @Sendable () -> Void
  private let report: @Sendable (TaskEvent) -> Void
  private let start = ContinuousClock.now
  /// The tasks that should stop.
  ///
  /// Operations have this built in; threads and blocks need it separately.
  // Protected by its lock.
  private let cancelled = Mutex<Set<Int>>([])

  init(
    taskCount: Int, itemCount: Int, work: @escaping @Sendable () -> Void,
    report: @escaping @Sendable (TaskEvent) -> Void
  ) {
    self.taskCount = taskCount
    self.itemCount = itemCount
    self.work = work
    self.report = report
  }

  /// The tasks that a technique runs.
  var iterations: ClosedRange<Int> { 1...taskCount }

  /// The long work of an item: 0.1 s of sleep, unless a test replaces it.
  func makeItem() { work() }

  func began(_ iteration: Int) { send(.began(task: iteration)) }

  /// Reports the line in the log, and the row in the table.
  func added(_ iteration: Int, _ number: Int) { send(.added(task: iteration, item: number)) }

  /// Reports a section of the table, on the main queue.
  func updateTableData(_ iteration: Int, _ newItems: [String]) {
    send(.shown(task: iteration, count: newItems.count))
  }

  func completed(_ iteration: Int) { send(.completed(task: iteration)) }

  func ended(_ iteration: Int, isCancelled: Bool) { send(.ended(task: iteration, isCancelled: isCancelled)) }

  func finished() { send(.finished) }

  func cancel(_ iteration: Int) { cancelled.withLock { _ = $0.insert(iteration) } }

  func isCancelled(_ iteration: Int) -> Bool { cancelled.withLock { $0.contains(iteration) } }

  private func send(_ kind: TaskEvent.Kind) {
    report(TaskEvent(kind: kind, time: .now - start, date: Date(), thread: currentThread))
  }

  /// The thread number that the system assigns, as `top -H` shows it.
  private var currentThread: Int32 {
    #if os(Linux)
    // A link to PROCESS/task/THREAD.
    let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
    return path?.split(separator: "/").last.flatMap { Int32($0) } ?? 0
    #else
    return Int32(bitPattern: pthread_mach_thread_np(pthread_self()))
    #endif
  }
}
