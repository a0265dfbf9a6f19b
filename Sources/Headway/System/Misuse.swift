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

/// Stops the process because of a programming error, in every kind of build, with a message that names the object and
/// the remedy. (`precondition` drops its message in optimized builds.)
///
/// All modules use this function; `script/lint` finds calls that stop the process in other ways.
@inlinable
package func require(
  _ condition: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
  if !condition { misuse(message(), file: file, line: line) }
}

/// Does the same as ``require(_:_:file:line:)`` when the error has already been found.
@inline(never)
@usableFromInline
package func misuse(_ message: String, file: StaticString = #fileID, line: UInt = #line) -> Never {
  fatalError(message, file: file, line: line)
}

/// Does the same as ``warn(_:)``, but only the first time in a process.
///
/// - Parameters:
///   - message: The message to write.
///   - hasWarned: Whether the message has been written.
func warnOnce(_ message: @autoclosure () -> String, since hasWarned: borrowing Atomic<Bool>) {
  if !hasWarned.exchange(true, ordering: .relaxed) { warn(message()) }
}

/// Writes a message for the developers of the program to the standard error stream.
func warn(_ message: String) {
  writeError("Headway: \(message)\n")
}

/// Writes text to the standard error stream.
func writeError(_ text: String) {
  var bytes = Array(text.utf8)[...]
  while !bytes.isEmpty {
    let count = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    if count < 0, errno != EINTR { return }
    bytes = bytes.dropFirst(max(0, count))
  }
}
