#if Drawing
import Headway

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Why an image could not be read from a file, or written to one.
public struct ImageFileError: Error, Sendable, CustomStringConvertible {
  /// What kind of thing went wrong.
  public let code: Code
  /// The file, as it was named; nil for bytes in memory.
  public let path: String?
  /// What happened, for a person.
  public let context: String
  /// The `errno` of the system call that failed; nil when none did.
  public let errorNumber: Int32?
  /// The error below, if there was one.
  public let underlyingError: (any Error)?

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: What kind of thing went wrong.
  ///   - path: The file; nil for bytes in memory.
  ///   - context: What happened, for a person.
  ///   - errorNumber: The `errno` of the system call that failed.
  ///   - underlyingError: The error below.
  public init(
    _ code: Code, path: String?, context: String = "", errorNumber: Int32? = nil,
    underlyingError: (any Error)? = nil
  ) {
    (self.code, self.path, self.context) = (code, path, context)
    (self.errorNumber, self.underlyingError) = (errorNumber, underlyingError)
  }

  /// One line for a person: the file, what happened, and why.
  public var description: String {
    // These say what the system would say.
    let number = code == .fileNotFound || code == .permissionDenied ? nil : errorNumber
    let details = [
      context.isEmpty ? nil : context, number.map { String(cString: strerror($0)) },
      underlyingError.map { "\($0)" },
    ].compactMap { $0 }
    return "\(path?.shownPath ?? "image"): \(code)"
      + (details.isEmpty ? "." : " (\(details.joined(separator: "; "))).")
  }
}
#endif
