#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Why a sample feed was not written.
public struct SampleFeedError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of failure it was.
  public var code: Code
  /// The file or folder concerned, if any.
  public var path: String?
  /// The system's error number, if a system call failed.
  public var systemError: Int32?

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: What kind of failure it was.
  ///   - path: The file or folder concerned.
  ///   - systemError: The system's error number (`errno`).
  public init(code: Code, path: String? = nil, systemError: Int32? = nil) {
    self.code = code
    self.path = path
    self.systemError = systemError
  }

  /// A kind of failure.
  ///
  /// More may be added in later versions; a `switch` over them needs a `default`.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private let message: String

    private init(_ message: String) {
      self.message = message
    }

    /// The closure `isCancelled` returned `true`.
    public static let cancelled = Code("writing the sample feed was cancelled")
    /// A feed needs at least two stop times, since a trip is a way between two stops.
    public static let tooFewStopTimes = Code("a feed needs at least 2 stop times")
    /// The folder does not exist and cannot be created.
    public static let cannotCreateFolder = Code("cannot create the folder")
    /// A file of that name is there, and was not to be replaced.
    public static let fileExists = Code("there is a file already:")
    /// A file cannot be created in the folder.
    public static let cannotCreateFile = Code("cannot create the file")
    /// A file cannot be written, for instance because the disk is full.
    public static let cannotWrite = Code("cannot write the file")

    /// What happened, in words.
    public var description: String { message }
  }

  /// The system's own words for ``systemError``, for instance `No space left on device`.
  public var systemErrorDescription: String? {
    systemError.map { String(cString: strerror($0)) }
  }

  /// What happened, where and why, in one line.
  public var description: String {
    var text = code.description
    if let path { text += " “\(path)”" }
    if let systemErrorDescription { text += ": \(systemErrorDescription)" }
    return text
  }
}
