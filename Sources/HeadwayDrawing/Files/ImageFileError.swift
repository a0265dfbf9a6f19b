#if Drawing
import Headway
import HeadwayFiles

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
  /// A description of the error for people, as a sentence without the path and the causes.
  public let context: String
  /// The `errno` of the failed system call; nil if no call failed.
  public let systemErrorNumber: Int32?
  /// The error that caused this error, if any.
  public let underlyingError: (any Error)?

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - path: The path of the file; nil for bytes in memory.
  ///   - context: What happened, as a sentence for people; nil for a sentence about the kind of failure.
  ///   - systemErrorNumber: The `errno` of the failed system call.
  ///   - underlyingError: The error that caused this error, if any.
  public init(
    _ code: Code, path: String?, context: String? = nil, systemErrorNumber: Int32? = nil,
    underlyingError: (any Error)? = nil
  ) {
    (self.code, self.path, self.context) = (code, path, context ?? "\(code.sentence).")
    (self.systemErrorNumber, self.underlyingError) = (systemErrorNumber, underlyingError)
  }

  /// Creates an error with a detail after the sentence about the kind of failure.
  init(_ code: Code, path: String?, detail: String) {
    self.init(code, path: path, context: detail.isEmpty ? nil : "\(code.sentence): \(detail).")
  }

  /// The system's description of ``systemErrorNumber``.
  public var systemErrorDescription: String? { systemErrorNumber.map { String(cString: strerror($0)) } }

  /// The file, what happened, and the causes, in one line.
  public var description: String {
    // The sentences about these codes match the system's description.
    let reason = code == .fileNotFound || code == .permissionDenied ? nil : systemErrorDescription
    let causes = [reason, underlyingError.map { "\($0)" }].compactMap { $0 }
    let reasons = causes.isEmpty ? "" : " (\(causes.joined(separator: "; ")))"
    // The path might contain characters that control a terminal.
    return "\(path?.shownPath ?? "image"): \(context)\(reasons)".replacingControls()
  }
}
#endif
