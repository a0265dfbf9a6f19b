#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Makes a detached thread that runs `body`.
///
/// - Returns: 0, or the error of `pthread_create`.
@discardableResult
func startThread(_ body: @escaping @Sendable () -> Void) -> Int32 {
  let argument = Unmanaged.passRetained(ThreadBody(body))
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  defer { pthread_attr_destroy(&attributes) }
  pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
  #if canImport(Darwin)
    var thread: pthread_t?
    let result = pthread_create(&thread, &attributes, { runThreadBody($0) }, argument.toOpaque())
  #else
    var thread = pthread_t()
    let result = pthread_create(&thread, &attributes, { runThreadBody($0!) }, argument.toOpaque())
  #endif
  if result != 0 { argument.release() }
  return result
}

private final class ThreadBody: Sendable {
  let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func runThreadBody(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
  Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().body()
  return nil
}
