import HeadwayTestSupport

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Keeps the calling thread busy until it has used the given processor time.
func useProcessor(milliseconds: UInt64) {
  let end = ProcessorTime.ofThread + milliseconds * 1_000_000
  while ProcessorTime.ofThread < end {}
}

#if os(Linux)
/// How many threads the process has.
func processThreadCount() -> Int {
  guard let folder = opendir("/proc/self/task") else { return 0 }
  defer { closedir(folder) }
  var count = 0
  while let entry = readdir(folder) {
    if entry.pointee.d_name.0 != UInt8(ascii: ".") { count += 1 }
  }
  return count
}

/// The result of fork(2), which Swift does not let you call by its name, because the child lacks most of the process.
func forkProcess() -> pid_t {
  typealias Fork = @convention(c) () -> pid_t
  return unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)()
}

/// The exit status of a child; nil if a signal ended it.
func exitStatus(of child: pid_t) -> Int32? {
  var status: Int32 = 0
  while waitpid(child, &status, 0) < 0, errno == EINTR {}
  return status & 0x7F == 0 ? (status >> 8) & 0xFF : nil
}
#endif
