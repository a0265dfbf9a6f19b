import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

func currentThreadIdentifier() -> UInt { UInt(bitPattern: pthread_self().hashValue) }

/// Lets other threads run first.
func yieldThread() { sched_yield() }

/// Lets other threads run for a millisecond.
func pauseThread() { usleep(1_000) }

/// A number from the environment that makes a test do more than by default.
func environmentNumber(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

/// Writes to standard error, where exit tests look.
func printError(_ text: String) {
  let line = text + "\n"
  _ = write(STDERR_FILENO, line, line.utf8.count)
}

/// Runs `body` on `count` new threads, with their numbers, and returns when all have returned.
///
/// - Parameters:
///   - count: How many threads.
///   - stackSize: The size of each thread's stack in bytes; by default, the system's.
///   - body: The function to run.
func onThreads(_ count: Int, stackSize: Int? = nil, _ body: @escaping @Sendable (Int) -> Void) {
  let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
  defer { attributes.deallocate() }
  pthread_attr_init(attributes)
  defer { pthread_attr_destroy(attributes) }
  if let stackSize { pthread_attr_setstacksize(attributes, stackSize) }
  let threads = (0..<count).map { number in
    let start = Unmanaged.passRetained(ThreadStart { body(number) })
    #if canImport(Darwin)
    var thread: pthread_t?
    pthread_create(&thread, attributes, { ThreadStart.main($0) }, start.toOpaque())
    #else
    var thread = pthread_t()
    pthread_create(&thread, attributes, { ThreadStart.main($0!) }, start.toOpaque())
    #endif
    return thread
  }
  for thread in threads {
    #if canImport(Darwin)
    pthread_join(thread!, nil)
    #else
    pthread_join(thread, nil)
    #endif
  }
}

private final class ThreadStart: Sendable {
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  static func main(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue().body()
    return nil
  }
}

#if os(Linux)
/// The nice value of the calling thread.
func currentNiceValue() -> Int32 { getpriority(Int32(PRIO_PROCESS.rawValue), 0) }

/// The nice value of the process's first thread.
func processNiceValue() -> Int32 { getpriority(Int32(PRIO_PROCESS.rawValue), id_t(getpid())) }

func setCurrentNiceValue(_ value: Int32) { setpriority(Int32(PRIO_PROCESS.rawValue), 0, value) }

/// Whether threads of this process may lower their nice value.
func mayLowerNiceValue() -> Bool {
  let isAllowed = Mutex(false)
  onThreads(1) { _ in
    let value = currentNiceValue()
    setCurrentNiceValue(value + 1)
    setCurrentNiceValue(value)
    isAllowed.withLock { $0 = currentNiceValue() == value }
  }
  return isAllowed.withLock { $0 }
}

/// Changes the process to a user without privileges, if it has some.
func dropPrivileges() {
  guard geteuid() == 0 else { return }
  setgid(65_534)
  setuid(65_534)
}
#endif
