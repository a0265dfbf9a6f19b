/// The values that Headway keeps per thread.
///
/// Each value is a pointer to the current activity of the thread, usually on the thread's own stack; nil if there is
/// none.
struct ThreadValues {
  /// The ``Worker`` that the thread belongs to.
  var worker: UnsafeMutableRawPointer?
  /// The innermost ``ThreadContext``: the operation that the thread runs, and its queue.
  var context: UnsafeMutableRawPointer?
  /// The innermost ``NotificationContext``: the object whose observers the thread notifies.
  var notification: UnsafeMutableRawPointer?
  /// The loop that cancels operations whose required dependencies did not succeed.
  var cancellation: UnsafeMutableRawPointer?
  /// The list of the ``ReleasedChain`` that the thread releases.
  var release: UnsafeMutableRawPointer?

  private static let key = ThreadKey(atThreadEnd: { $0?.deallocate() })

  /// The values of the calling thread; nil if it has none.
  static var existing: UnsafeMutablePointer<ThreadValues>? { key.value?.assumingMemoryBound(to: ThreadValues.self) }

  /// The values of the calling thread, created on first use.
  static var current: UnsafeMutablePointer<ThreadValues> { existing ?? make() }

  @inline(never)
  private static func make() -> UnsafeMutablePointer<ThreadValues> {
    let values = UnsafeMutablePointer<ThreadValues>.allocate(capacity: 1)
    values.initialize(to: ThreadValues())
    key.value = UnsafeMutableRawPointer(values)
    return values
  }
}
