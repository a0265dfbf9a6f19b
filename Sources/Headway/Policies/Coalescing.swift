/// The rule for adding an operation while another one with the same key waits or runs.
///
/// ```swift
/// let page = queue.addTask(coalescing: addresses[0], .joinUnfinished) { try await fetch(addresses[0]) }
/// print(try await page.value)
/// ```
///
/// An operation *waits* until it starts, and *runs* from then on until it finishes. A pause between two attempts is
/// part of the run. An operation that has been cancelled is never joined, and does not keep a new one from being added.
public enum Coalescing: Sendable, Hashable, Codable {
  /// The call joins the operation that waits, and its function is not called.
  ///
  /// So the function whose value the caller receives begins after the call, and sees everything that happened before
  /// it. While an operation runs, the first call adds another one. The two can run at the same time.
  case joinWaiting
  /// The call joins the operation that waits or runs, and its function is not called.
  ///
  /// At most one function per key runs at a time, if all calls with the key use this case or ``dropNew``.
  case joinUnfinished
  /// The new operation is added, and the one that waits is cancelled for all of its callers.
  ///
  /// An operation that runs continues.
  case replaceWaiting
  /// The new operation is added, and the one that waits or runs is cancelled for all of its callers.
  ///
  /// The new function can begin while the one before reacts to the cancellation.
  case replaceUnfinished
  /// The new operation is not added if one waits or runs, and ends as cancelled.
  case dropNew
}
