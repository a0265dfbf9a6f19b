#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The reason that a sample feed was not written.
public struct SampleFeedError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure.
  public var code: Code
  /// The file or folder concerned, if any.
  public var path: String?
  /// The system's error number, if a system call failed.
  public var systemError: Int32?

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - path: The file or folder concerned.
  ///   - systemError: The system's error number (`errno`).
  public init(code: Code, path: String? = nil, systemError: Int32? = nil) {
    self.code = code
    self.path = path
    self.systemError = systemError
  }

  /// A kind of failure.
  ///
  /// Later versions may add more kinds; a `switch` over them needs a `default`.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private let message: String

    private init(_ message: String) {
      self.message = message
    }

    /// The closure `isCancelled` returned `true`.
    public static let cancelled = Code("writing the sample feed was cancelled")
    /// A feed needs at least two stop times, because a trip connects two stops.
    public static let tooFewStopTimes = Code("a feed needs at least 2 stop times")
    /// The folder does not exist and cannot be created.
    public static let cannotCreateFolder = Code("cannot create the folder")
    /// A file with the same name exists, and may not be replaced.
    public static let fileExists = Code("there is a file already:")
    /// A file cannot be created in the folder.
    public static let cannotCreateFile = Code("cannot create the file")
    /// A file cannot be written, for example because the disk is full.
    public static let cannotWrite = Code("cannot write the file")

    /// The description of the failure.
    public var description: String { message }
  }

  /// The system's description of ``systemError``, for example `No space left on device`.
  public var systemErrorDescription: String? {
    systemError.map { String(cString: strerror($0)) }
  }

  /// The failure, the file or folder, and the system's reason, in one line.
  public var description: String {
    var text = code.description
    if let path { text += " “\(path)”" }
    if let systemErrorDescription { text += ": \(systemErrorDescription)" }
    return text
  }
}
