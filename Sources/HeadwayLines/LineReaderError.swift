/// Why a file could not be read by line.
///
/// ```swift
/// do {
///   try reader.forEachLine { line in print(try line.string) }
/// } catch let error as LineReaderError where error.code == .invalidUTF8 {
///   print("Line \(error.lineNumber ?? 0) is not UTF-8.")
/// }
/// ```
///
/// Every line before the place that the error names has been delivered. Stopping early and cancelling are not errors of
/// this type: a cancelled reading throws `CancellationError`.
public struct LineReaderError: Error, Hashable, Sendable {
  /// What went wrong, for a program to decide on.
  public let code: Code

  /// The file, as it was named.
  public let path: String

  /// The number of the line that was being read, counted from one.
  ///
  /// Nil when the file could not be opened.
  public let lineNumber: Int?

  /// A position in the file, in bytes from its start.
  ///
  /// Nil when the file could not be opened.
  ///
  /// For ``Code/invalidUTF8`` the first byte that is not UTF-8, for ``Code/lineTooLong`` the start of the line, for all
  /// others the place up to which the file was read.
  public let byteOffset: Int?

  /// The `errno` of the system call that failed, or nil when none did.
  public let errorNumber: Int32?

  /// The system's words for ``errorNumber``.
  public var errorText: String? { errorNumber.map(Platform.text(of:)) }

  package init(
    _ code: Code, path: String, lineNumber: Int? = nil, byteOffset: Int? = nil, errorNumber: Int32? = nil
  ) {
    self.code = code
    self.path = path
    self.lineNumber = lineNumber
    self.byteOffset = byteOffset
    self.errorNumber = errorNumber
  }

  /// The same error, met while a certain line was being read.
  package func atLine(_ number: Int) -> LineReaderError {
    LineReaderError(code, path: path, lineNumber: number, byteOffset: byteOffset, errorNumber: errorNumber)
  }
}

extension LineReaderError: CustomStringConvertible {
  /// One line for a person: what happened, where, and the system's reason.
  public var description: String {
    var text = "\(path): \(code)"
    if let lineNumber { text += " at line \(lineNumber)" }
    if let byteOffset { text += lineNumber == nil ? " at byte \(byteOffset)" : ", byte \(byteOffset)" }
    if let errorText { text += " (\(errorText))" }
    return text
  }
}
