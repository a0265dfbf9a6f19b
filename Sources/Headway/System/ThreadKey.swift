#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A thread-specific pointer.
///
/// A key is created once per purpose and is never freed.
struct ThreadKey: Sendable {
  private let key: pthread_key_t

  init(atThreadEnd: (@convention(c) (UnsafeMutableRawPointer?) -> Void)? = nil) {
    var key = pthread_key_t()
    let result = pthread_key_create(&key, atThreadEnd)
    require(result == 0, "No thread-specific key is left in this process (pthread_key_create returned \(result)).")
    self.key = key
  }

  /// The calling thread's value; nil until it sets one.
  var value: UnsafeMutableRawPointer? {
    get { pthread_getspecific(key) }
    nonmutating set { pthread_setspecific(key, newValue) }
  }
}
