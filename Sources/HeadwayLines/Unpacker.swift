#if Compression
/// Unpacks a compressed file, or one in an archive, while it is read.
protocol Unpacker: AnyObject, Sendable {
  /// How many bytes have been read: compressed ones or, where it is known how many come out of them, those.
  var bytesRead: Int { get }
  /// Whether ``bytesRead`` counts compressed bytes.
  var countsCompressedBytes: Bool { get }

  /// Unpacks what comes next.
  ///
  /// - Parameter buffer: Where to put it.
  /// - Returns: How many bytes; zero at the end.
  /// - Throws: ``UnpackingProblem``.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(UnpackingProblem) -> Int
}

/// What is wrong with compressed bytes.
enum UnpackingProblem: Error {
  case damaged, encrypted, expandsTooFar, notThere
  case unsafeName(String)
  case unreadable(Platform.Failure)

  /// The problem as an error about a file.
  func error(path: String, byteOffset: Int? = nil) -> LineReaderError {
    switch self {
    case .damaged: LineReaderError(.damaged, path: path, byteOffset: byteOffset)
    case .encrypted: LineReaderError(.encrypted, path: path)
    case .expandsTooFar: LineReaderError(.expandsTooFar, path: path, byteOffset: byteOffset)
    case .notThere: LineReaderError(.fileNotFound, path: path)
    case .unsafeName(let name): LineReaderError(.unsafeName, path: "\(path)/\(name)")
    case .unreadable(let failure):
      LineReaderError(
        Platform.readingCode(failure.errorNumber), path: path, byteOffset: byteOffset,
        errorNumber: failure.errorNumber)
    }
  }
}
#endif
