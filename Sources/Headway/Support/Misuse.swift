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

/// Stops the process over a programmer's error, in every kind of build, with a message that names the object and the
/// remedy. (`precondition` drops its message in optimised builds.)
func require(
  _ condition: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
  if !condition { misuse(message(), file: file, line: line) }
}

/// As ``require(_:_:file:line:)``, when the error has been found.
func misuse(_ message: String, file: StaticString = #fileID, line: UInt = #line) -> Never {
  fatalError(message, file: file, line: line)
}

/// As ``warn(_:)``, the first time in a process.
///
/// - Parameters:
///   - message: What to say.
///   - hasWarned: Says whether it was said.
func warnOnce(_ message: @autoclosure () -> String, since hasWarned: borrowing Atomic<Bool>) {
  if !hasWarned.exchange(true, ordering: .relaxed) { warn(message()) }
}

/// Says something to the people who develop the program, on the standard error stream.
func warn(_ message: String) {
  let line = Array("Headway: \(message)\n".utf8)
  line.withUnsafeBytes { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
