import Headway
import HeadwayFiles

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The reason that a sample feed was not written.
public struct SampleFeedError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A kind of failure.
  ///
  /// Later versions might add more kinds; a `switch` over them needs a `default`.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private let phrase: String
    let sentence: String

    private init(_ phrase: String, _ sentence: String) { (self.phrase, self.sentence) = (phrase, sentence) }

    /// The closure `isCancelled` returned `true`.
    public static let cancelled = Code("cancellation", "Writing the sample feed was cancelled.")
    /// A feed needs at least two stop times, because a trip connects two stops.
    public static let tooFewStopTimes = Code("too few stop times", "A feed needs at least 2 stop times.")
    /// The folder does not exist and cannot be created.
    public static let cannotCreateFolder = Code("folder that can't be created", "The folder can't be created.")
    /// A file with the same name exists, and may not be replaced.
    public static let fileExists = Code("existing file", "This file exists already.")
    /// A file cannot be created in the folder.
    public static let cannotCreateFile = Code("file that can't be created", "The file can't be created.")
    /// A file cannot be written, for example because the disk is full.
    public static let cannotWrite = Code("file that can't be written", "The file can't be written.")

    /// The kind, as a noun phrase.
    public var description: String { phrase }
  }

  /// The kind of failure.
  public let code: Code
  /// The file or folder concerned, if any.
  public let path: String?
  /// A description of the error for people, as a sentence without the path and the system's reason.
  public let context: String
  /// The system's error number (`errno`), if a system call failed.
  public let systemErrorNumber: Int32?

  init(_ code: Code, path: String? = nil, systemErrorNumber: Int32? = nil) {
    (self.code, self.path, self.systemErrorNumber) = (code, path, systemErrorNumber)
    context = code.sentence
  }

  /// The system's description of ``systemErrorNumber``, for example `No space left on device`.
  public var systemErrorDescription: String? { systemErrorNumber.map { String(cString: strerror($0)) } }

  /// The file or folder, what happened, and the system's reason, in one line.
  public var description: String {
    (path.map { "\($0.shownPath): " } ?? "") + context + (systemErrorDescription.map { " (\($0))" } ?? "")
  }
}
