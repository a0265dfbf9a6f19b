public import Foundation

/// An event in a run.
public struct TaskEvent: Sendable {
  /// The kind of event.
  public let kind: Kind
  /// The time since the start of the run.
  public let time: Duration
  /// The time of day.
  public let date: Date
  /// The system's number of the thread where the event occurred.
  public let thread: Int32

  /// The kinds of events in a run.
  ///
  /// Tasks and items are numbered starting at 1.
  public enum Kind: Sendable, Hashable {
    /// A task has begun.
    case began(task: Int)
    /// A task has created an item.
    case added(task: Int, item: Int)
    /// The items that a task has created are in the table.
    case shown(task: Int, count: Int)
    /// No code of a task runs any longer, and none will run.
    case ended(task: Int, isCancelled: Bool)
    /// A completion block of a task was called.
    case completed(task: Int)
    /// All tasks have ended.
    case finished
  }
}
