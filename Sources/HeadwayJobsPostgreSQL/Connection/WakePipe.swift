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
  private let reader: Int32
  private let writer: Int32

  init() throws {
    var descriptors: [Int32] = [-1, -1]
    guard pipe(&descriptors) == 0 else {
      throw JobError(.unusableStore, "No pipe can be created: \(systemMessage(errno)).")
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

  /// Waits for a wake-up, for another descriptor, or for a time; forever if it is nil.
  func wait(for other: Int32? = nil, upTo limit: Duration?) {
    var entries = ([reader] + (other.map { [$0] } ?? [])).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    _ = poll(&entries, nfds_t(entries.count), limit.map { $0 <= .zero ? 0 : Int32($0.milliseconds) + 1 } ?? -1)
    clear()
  }

  private func clear() {
    var bytes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    while read(reader, &bytes, MemoryLayout.size(ofValue: bytes)) > 0 {}
  }
}

/// The message of the system for the number of an error.
func systemMessage(_ code: Int32) -> String { String(cString: strerror(code)) }

private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }
#endif
