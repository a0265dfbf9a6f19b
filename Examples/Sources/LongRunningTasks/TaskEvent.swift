public import Foundation

/// Something that happened in a run.
public struct TaskEvent: Sendable {
  /// What happened.
  public let kind: Kind
  /// How long the run had gone on.
  public let time: Duration
  /// The time of day.
  public let date: Date
  /// The thread on which it happened, as the system numbers it.
  public let thread: Int32

  /// What may happen in a run; tasks and items count from 1.
  public enum Kind: Sendable, Hashable {
    /// A task has begun.
    case began(task: Int)
    /// A task has made an item.
    case added(task: Int, item: Int)
    /// The items of a task are in the table, as far as it came.
    case shown(task: Int, count: Int)
    /// Nothing of a task runs any more, or ever will.
    case ended(task: Int, isCancelled: Bool)
    /// A completion block of a task was called.
    case completed(task: Int)
    /// All tasks have ended.
    case finished
  }
}
