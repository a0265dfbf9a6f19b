#if Compression
/// Unpacks a compressed file, or a file in an archive, while it is read.
protocol Unpacker: AnyObject, Sendable {
  /// The number of bytes that have been read.
  ///
  /// Counts unpacked bytes if the unpacked size is known, otherwise compressed bytes.
  var bytesRead: Int { get }
  /// Whether ``bytesRead`` counts compressed bytes.
  var countsCompressedBytes: Bool { get }

  /// Unpacks the next bytes.
  ///
  /// - Parameter buffer: The destination for the unpacked bytes.
  /// - Returns: The number of bytes. Zero at the end.
  /// - Throws: ``UnpackingProblem``.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(UnpackingProblem) -> Int
}

/// A problem with compressed bytes.
enum UnpackingProblem: Error {
  case damaged, encrypted, expandsTooFar, notThere
  case unsafeName(String)
  case unreadable(Platform.Failure)

  /// Returns the problem as an error about a file.
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
        systemErrorNumber: failure.errorNumber)
    }
  }
}
#endif
