/// What the library keeps for a thread.
///
/// Each value is a pointer to what the thread is at, mostly on its own stack; nil for nothing.
struct ThreadValues {
  /// The ``Worker`` whose thread it is.
  var worker: UnsafeMutableRawPointer?
  /// The innermost ``ThreadContext``: which operation of which queue it runs.
  var context: UnsafeMutableRawPointer?
  /// The innermost ``NotificationContext``: whose observers it notifies.
  var notification: UnsafeMutableRawPointer?
  /// The loop in which it cancels operations that others required to succeed.
  var cancellation: UnsafeMutableRawPointer?
  /// The list of the ``ReleasedChain`` that it releases.
  var release: UnsafeMutableRawPointer?

  private static let key = ThreadKey(atThreadEnd: { $0?.deallocate() })

  /// The values of the calling thread; nil if it has none.
  static var existing: UnsafeMutablePointer<ThreadValues>? { key.value?.assumingMemoryBound(to: ThreadValues.self) }

  /// The values of the calling thread, made when first needed.
  static var current: UnsafeMutablePointer<ThreadValues> { existing ?? make() }

  @inline(never)
  private static func make() -> UnsafeMutablePointer<ThreadValues> {
    let values = UnsafeMutablePointer<ThreadValues>.allocate(capacity: 1)
    values.initialize(to: ThreadValues())
    key.value = UnsafeMutableRawPointer(values)
    return values
  }
}
