#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// What tells the threads of the process apart.
func currentThread() -> UInt {
  #if canImport(Darwin)
  UInt(bitPattern: pthread_self())
  #else
  UInt(pthread_self())
  #endif
}

/// Lets other threads go on.
func yieldProcessor() { sched_yield() }

/// Makes a file empty.
func truncate(_ path: String) {
  let result = truncate(path, 0)
  precondition(result == 0)
}
