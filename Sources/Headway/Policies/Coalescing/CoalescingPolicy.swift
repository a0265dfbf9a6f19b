/// Determines what happens if you add an operation while another operation with the same key is waiting or running.
///
/// ```swift
/// let page = queue.addTask(coalescing: addresses[0], by: .joinUnfinished) { try await fetch(addresses[0]) }
/// print(try await page.value)
/// ```
///
/// An operation is *waiting* until it starts, and *running* from then on until it finishes, even during a pause between
/// two attempts. A cancelled operation is never joined and does not prevent a new one from being added.
public enum CoalescingPolicy: Sendable, Hashable, Codable {
  /// The call joins the waiting operation. The function that you pass is not called.
  ///
  /// As a result, the function whose value you receive begins after the call, and sees everything that happened before
  /// the call. If an operation is running and none is waiting, the call adds a new one. Both can run at the same time.
  case joinWaiting
  /// The call joins the waiting or running operation. The function that you pass is not called.
  ///
  /// At most one function per key runs at a time, if all calls with the key use this case or ``dropNew``.
  case joinUnfinished
  /// The call adds a new operation and cancels the waiting operation for all of its callers.
  ///
  /// A running operation continues.
  case replaceWaiting
  /// The call adds a new operation and cancels the waiting or running operation for all of its callers.
  ///
  /// The new function can begin before the cancelled one has returned.
  case replaceUnfinished
  /// The call adds nothing if an operation is waiting or running. Its ``CoalescedTask`` ends as cancelled.
  case dropNew
}
