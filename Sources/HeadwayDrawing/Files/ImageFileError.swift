#if Drawing
import Headway

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The reason why an image could not be read from a file, or written to one.
public struct ImageFileError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure.
  public let code: Code
  /// The path that was passed; nil for bytes in memory.
  public let path: String?
  /// A description of the failure for users.
  public let context: String
  /// The `errno` of the failed system call; nil if no call failed.
  public let errorNumber: Int32?
  /// The error that caused this error, if any.
  public let underlyingError: (any Error)?

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - path: The path of the file; nil for bytes in memory.
  ///   - context: A description of the failure for users.
  ///   - errorNumber: The `errno` of the failed system call.
  ///   - underlyingError: The error that caused this error, if any.
  public init(
    _ code: Code, path: String?, context: String = "", errorNumber: Int32? = nil,
    underlyingError: (any Error)? = nil
  ) {
    (self.code, self.path, self.context) = (code, path, context)
    (self.errorNumber, self.underlyingError) = (errorNumber, underlyingError)
  }

  /// The file, the failure, and its reason, in one line.
  public var description: String {
    // The descriptions of these codes match the system's message.
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
