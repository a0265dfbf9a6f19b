/// An error that describes why a file could not be read line by line.
///
/// ```swift
/// do {
///   try reader.forEachLine { line in print(try line.string) }
/// } catch let error as LineReaderError where error.code == .invalidUTF8 {
///   print("Line \(error.lineNumber ?? 0) is not UTF-8.")
/// }
/// ```
///
/// Every line before the position in the error has been delivered. Stopping early and cancelling are not errors of this
/// type: when reading is cancelled, `CancellationError` is thrown.
public struct LineReaderError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of failure, for decisions in code.
  public let code: Code

  /// The path of the file, as the caller specified it.
  public let path: String

  /// The number of the line that was being read, starting at one.
  ///
  /// Nil if the file could not be opened.
  public let lineNumber: Int?

  /// A position in the file, in bytes from its start.
  ///
  /// Nil if the file could not be opened.
  ///
  /// For ``Code/invalidUTF8``, the first byte that is not UTF-8. For ``Code/lineTooLong``, the start of the line. For
  /// all other codes, the position that reading had reached in the file.
  public let byteOffset: Int?

  /// A description of the error for people, as a sentence without the position and the system's reason.
  public let context: String

  /// The `errno` of the system call that failed, or nil if none failed.
  public let systemErrorNumber: Int32?

  /// The system's description of ``systemErrorNumber``.
  public var systemErrorDescription: String? { systemErrorNumber.map(Platform.text(of:)) }

  package init(
    _ code: Code, path: String, lineNumber: Int? = nil, byteOffset: Int? = nil, systemErrorNumber: Int32? = nil
  ) {
    self.code = code
    self.path = path
    self.lineNumber = lineNumber
    self.byteOffset = byteOffset
    self.systemErrorNumber = systemErrorNumber
    context = code.sentence
  }

  /// Returns the same error with the number of the line that was being read.
  package func atLine(_ number: Int) -> LineReaderError {
    LineReaderError(
      code, path: path, lineNumber: number, byteOffset: byteOffset, systemErrorNumber: systemErrorNumber)
  }

  /// One line for people: the file and the line, what happened, the position, and the system's reason
  /// if the rest does not include it.
  public var description: String {
    let place = lineNumber.map { "\(path):\($0)" } ?? path
    let includesReason = [.fileNotFound, .isDirectory, .permissionDenied].contains(code)
    let details = [byteOffset.map { "byte \($0)" }, includesReason ? nil : systemErrorDescription].compactMap { $0 }
    return "\(place): \(context)" + (details.isEmpty ? "" : " (\(details.joined(separator: "; ")))")
  }
}
