import Foundation
import Synchronization

/// What all techniques have in common: the work of an item, and where they report.
///
/// It takes the place of the sample's table view and of its log.
final class Screen: Sendable {
  let taskCount: Int
  let itemCount: Int
  private let work: @Sendable () -> Void
  private let report: @Sendable (TaskEvent) -> Void
  private let start = ContinuousClock.now
  /// The tasks that are to stop. Operations have this built in; threads and blocks need it made for them.
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

  /// The long work of an item: 0.1 s asleep, if not made otherwise for a test.
  func makeItem() { work() }

  func began(_ iteration: Int) { send(.began(task: iteration)) }

  /// The line in the log, and the row in the table.
  func added(_ iteration: Int, _ number: Int) { send(.added(task: iteration, item: number)) }

  /// A section of the table, on the main queue.
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

  /// The number that the system gives the thread, as `top -H` shows it.
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
