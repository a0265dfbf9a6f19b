import HeadwayLines

/// Bytes that are read from their start to their end.
package protocol ByteSource: AnyObject {
  /// What errors call it: the path of a file.
  var path: String { get }
  /// How many there are, of a compressed file as it is compressed; nil if that is not known.
  var size: Int? { get }
  /// How many have been read, of a compressed file as it is compressed.
  var bytesRead: Int { get }
  /// Whether ``size`` and ``bytesRead`` count compressed bytes.
  var countsCompressedBytes: Bool { get }

  /// The same bytes once more from their start; nil where they can be read only once.
  func reopened() throws(CSVReaderError) -> (any ByteSource)?

  /// Reads the bytes that come next.
  ///
  /// - Parameter target: Where to put them; not empty.
  /// - Returns: How many were read; zero at the end.
  /// - Throws: ``CSVReaderError`` with the code `cannotRead`.
  func read(into target: UnsafeMutableRawBufferPointer) throws(CSVReaderError) -> Int
}

/// The bytes of a file.
package final class FileBytes: ByteSource {
  private var file: FileSource

  /// Opens a file.
  ///
  /// - Parameter path: Its name.
  /// - Throws: ``CSVReaderError`` with the code `cannotRead`.
  package init(path: String) throws(CSVReaderError) {
    do { file = try FileSource(path: path) } catch { throw CSVReaderError(reading: error) }
  }

  /// Takes an open descriptor, which is not closed.
  init(descriptor: Int32, path: String) { file = FileSource(descriptor: descriptor, path: path) }

  package var path: String { file.path }
  package var size: Int? { file.size }
  package var bytesRead: Int { file.bytesRead }
  package var countsCompressedBytes: Bool { file.countsCompressedBytes }

  package func reopened() throws(CSVReaderError) -> (any ByteSource)? {
    // A pipe has no size.
    size == nil ? nil : try FileBytes(path: path)
  }

  package func read(into target: UnsafeMutableRawBufferPointer) throws(CSVReaderError) -> Int {
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

  func read(into target: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(target.count, bytes.count - bytesRead)
    bytes.withUnsafeBytes {
      target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[bytesRead..<bytesRead + count]))
    }
    bytesRead += count
    return count
  }
}
