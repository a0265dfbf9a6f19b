import CHeadway

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Creates a detached thread that runs `body`.
///
/// The thread blocks all signals except SIGPIPE, SIGPROF, and the signals that its own faults cause. As a result,
/// handlers run on the user's threads, and system calls in operations are not interrupted. The signals are blocked from
/// the thread's first instruction, because a thread inherits the mask.
///
/// - Parameters:
///   - name: The name for `top`, debuggers and similar tools. Linux uses only the first 15 bytes.
///   - body: The function to run.
/// - Returns: 0, or the error of `pthread_create`.
package func startThread(named name: String, _ body: @escaping @Sendable () -> Void) -> Int32 {
  let argument = Unmanaged.passRetained(ThreadBody(name, body))
  var (blocked, old) = (sigset_t(), sigset_t())
  sigfillset(&blocked)
  for signal in [SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSEGV, SIGSYS, SIGPIPE, SIGPROF] {
    sigdelset(&blocked, signal)
  }
  pthread_sigmask(SIG_SETMASK, &blocked, &old)
  defer { pthread_sigmask(SIG_SETMASK, &old, nil) }
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
  let name: String
  let body: @Sendable () -> Void

  init(_ name: String, _ body: @escaping @Sendable () -> Void) {
    self.name = name
    self.body = body
  }
}

private func runThreadBody(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
  let argument = Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue()
  #if canImport(Darwin)
  pthread_setname_np(argument.name)
  #else
  headway_name_thread(argument.name)
  #endif
  argument.body()
  return nil
}
