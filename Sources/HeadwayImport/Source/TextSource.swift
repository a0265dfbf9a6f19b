import HeadwayLines

/// The text of a file in UTF-8, whatever its encoding is.
final class TextSource {
  private var file: FileSource
  /// Nil for UTF-8.
  private var decoder: TextDecoder?
  /// Bytes of the file that have not been handed out.
  private var buffer: UnsafeMutableRawBufferPointer
  private var pending: Range<Int> = 0..<0
  private var isAtEnd = false
  private var textCount = 0

  /// The encoding that was given or found.
  private(set) var encoding: TextEncoding

  private static let capacity = 256 * 1024

  /// Opens a file and looks at its beginning.
  ///
  /// Of what is no regular file, it waits for as much as ``FileContent`` needs, or for its end.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - encoding: Its encoding; nil to find it.
  /// - Throws: ``ImportError`` with the code `cannotReadFile` or `foreignContent`.
  init(path: String, encoding: TextEncoding?) throws(ImportError) {
    do { file = try FileSource(path: path) } catch { throw ImportError(reading: error) }
    buffer = .allocate(byteCount: Self.capacity, alignment: 16)
    self.encoding = encoding ?? .utf8
    while !isAtEnd, pending.count < FileContent.sampleSize { try fill() }
    // What was said is not doubted.
    if encoding == nil {
      switch FileContent(of: UnsafeRawBufferPointer(rebasing: buffer[pending]), isWhole: isAtEnd) {
      case .foreign(let meaning): throw ImportError(.foreignContent, path: path, message: meaning)
      case .text(let found): self.encoding = found
      }
    }
    if self.encoding != .utf8 { decoder = TextDecoder(from: self.encoding.name) }
  }

  deinit { buffer.deallocate() }

  var path: String { file.path }
  /// The size of the file in bytes, if it is a regular one.
  var size: Int? { file.size }

  /// The place in the file that belongs to a place in the text; of another encoding than UTF-8, or if it is compressed,
  /// about that.
  func fileOffset(ofText offset: Int) -> Int {
    guard decoder != nil || file.countsCompressedBytes, textCount > 0 else { return offset }
    return Int(
      Double(offset) * Double(file.bytesRead - (file.countsCompressedBytes ? 0 : pending.count)) / Double(textCount))
  }

  /// Reads the text that comes next.
  ///
  /// - Parameter target: Where to put it; 16 bytes at least.
  /// - Returns: How many bytes were read; zero at the end.
  /// - Throws: ``ImportError`` with the code `cannotReadFile`.
  func read(into target: UnsafeMutableRawBufferPointer) throws(ImportError) -> Int {
    guard let decoder else {
      if !pending.isEmpty {
        let count = min(pending.count, target.count)
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[pending.prefix(count)]))
        pending.removeFirst(count)
        textCount += count
        return count
      }
      do {
        let count = try file.read(into: target)
        textCount += count
        return count
      } catch { throw ImportError(reading: error) }
    }
    while true {
      let source = UnsafeRawBufferPointer(rebasing: buffer[pending])
      let (read, written) = decoder.decode(source, isFinal: isAtEnd, into: target)
      pending.removeFirst(read)
      textCount += written
      if written > 0 || (isAtEnd && pending.isEmpty) { return written }
      try fill()
    }
  }

  /// Moves what is pending to the front, and reads more behind it.
  private func fill() throws(ImportError) {
    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[pending]))
    pending = 0..<pending.count
    do {
      let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[pending.count...]))
      pending = 0..<pending.count + count
      isAtEnd = count == 0
    } catch { throw ImportError(reading: error) }
  }
}
