import HeadwayLines

/// A source of bytes that is read from its start to its end.
package protocol ByteSource: AnyObject {
  /// The name of the source in errors: the path of a file.
  var path: String { get }
  /// The number of bytes, or nil if it is not known.
  ///
  /// For a compressed file, this is the compressed size.
  var size: Int? { get }
  /// The number of bytes that have been read.
  ///
  /// For a compressed file, this counts compressed bytes.
  var bytesRead: Int { get }
  /// Whether ``size`` and ``bytesRead`` count compressed bytes.
  var countsCompressedBytes: Bool { get }

  /// Returns a source that reads the same bytes again from their start.
  ///
  /// Nil if they can be read only once.
  func reopened() throws(CSVReaderError) -> (any ByteSource)?

  /// Blocks until reading would not block and checks for a cancellation from time to time.
  ///
  /// - Parameter check: Called at least once. If it throws, the wait ends.
  /// - Throws: The error that `check` throws.
  func waitUntilReadable(_ check: () throws -> Void) throws

  /// Reads the next bytes.
  ///
  /// - Parameter target: The memory for the bytes. It must not be empty.
  /// - Returns: The number of bytes that were read. Zero at the end.
  /// - Throws: ``CSVReaderError`` with the code `cannotRead`.
  func read(into target: UnsafeMutableRawBufferPointer) throws(CSVReaderError) -> Int
}

/// The bytes of a file.
package final class FileBytes: ByteSource {
  private var file: FileSource
  private let isCancelled: (@Sendable () -> Bool)?

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - isCancelled: Called before each read, and ten times per second while a read waits for the writer of a FIFO. If
  ///     it returns true, reading throws an error whose cause is a `CancellationError`.
  /// - Throws: ``CSVReaderError`` with the code `cannotRead`.
  package init(path: String, isCancelled: (@Sendable () -> Bool)? = nil) throws(CSVReaderError) {
    self.isCancelled = isCancelled
    do { file = try FileSource(path: path) } catch { throw CSVReaderError(reading: error) }
  }

  /// Reads from an open descriptor, which is not closed.
  init(descriptor: Int32, path: String) {
    file = FileSource(descriptor: descriptor, path: path)
    isCancelled = nil
  }

  package var path: String { file.path }
  package var size: Int? { file.size }
  package var bytesRead: Int { file.bytesRead }
  package var countsCompressedBytes: Bool { file.countsCompressedBytes }

  package func reopened() throws(CSVReaderError) -> (any ByteSource)? {
    // A pipe has no size.
    size == nil ? nil : try FileBytes(path: path, isCancelled: isCancelled)
  }

  package func waitUntilReadable(_ check: () throws -> Void) throws { try file.waitUntilReadable(check) }

  package func read(into target: UnsafeMutableRawBufferPointer) throws(CSVReaderError) -> Int {
    if let isCancelled {
      do { try waitUntilReadable { if isCancelled() { throw CancellationError() } } } catch {
        throw CSVReaderError(
          .cannotRead, path: path, context: "Reading the file was cancelled.", underlyingError: error)
      }
    }
    do { return try file.read(into: target) } catch { throw CSVReaderError(reading: error) }
  }
}

/// Bytes in memory.
final class MemoryBytes: ByteSource {
  let path: String
  private let bytes: [UInt8]
  private(set) var bytesRead = 0

  init(_ bytes: [UInt8], path: String) { (self.bytes, self.path) = (bytes, path) }

  var size: Int? { bytes.count }
  var countsCompressedBytes: Bool { false }

  func reopened() -> (any ByteSource)? { MemoryBytes(bytes, path: path) }

  func waitUntilReadable(_ check: () throws -> Void) throws { try check() }

  func read(into target: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(target.count, bytes.count - bytesRead)
    bytes.withUnsafeBytes {
      target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[bytesRead..<bytesRead + count]))
    }
    bytesRead += count
    return count
  }
}
