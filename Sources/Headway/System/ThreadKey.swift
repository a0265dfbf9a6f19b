import CHeadway

/// A thread-specific pointer.
///
/// A key is created once per purpose and is never freed.
struct ThreadKey: Sendable {
  private let key: CInt

  init(atThreadEnd: (@convention(c) (UnsafeMutableRawPointer?) -> Void)? = nil) {
    key = headway_make_thread_key(atThreadEnd)
    require(key >= 0, "This process has used all its thread-specific keys.")
  }

  /// The calling thread's value; nil until it sets one.
  @inline(__always)
  var value: UnsafeMutableRawPointer? {
    get { headway_thread_value(key) }
    nonmutating set { headway_set_thread_value(key, newValue) }
  }
}
