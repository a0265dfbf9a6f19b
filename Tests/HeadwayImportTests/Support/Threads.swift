#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A value that distinguishes the threads of the process.
func currentThread() -> UInt {
  #if canImport(Darwin)
  UInt(bitPattern: pthread_self())
  #else
  UInt(pthread_self())
  #endif
}

/// Lets other threads continue.
func yieldProcessor() { sched_yield() }

/// Empties a file.
func truncate(_ path: String) {
  let result = truncate(path, 0)
  precondition(result == 0)
}
