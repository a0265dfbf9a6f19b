#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Wakes a thread that waits for descriptors.
final class WakePipe: Sendable {
  /// The descriptor that is readable after a wake-up.
  let reader: Int32
  private let writer: Int32

  init() throws {
    var descriptors: [Int32] = [-1, -1]
    guard pipe(&descriptors) == 0 else {
      throw JobError(.unusableStore, "No pipe can be created: \(String(cString: strerror(errno))).")
    }
    (reader, writer) = (descriptors[0], descriptors[1])
    for descriptor in descriptors {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }
  }

  deinit {
    for descriptor in [reader, writer] { _ = closeDescriptor(descriptor) }
  }

  func wake() {
    var byte: UInt8 = 0
    // If the pipe is full, the thread is already awake.
    _ = write(writer, &byte, 1)
  }

  func clear() {
    var bytes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    while read(reader, &bytes, MemoryLayout.size(ofValue: bytes)) > 0 {}
  }
}

private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }
#endif
