/// The text of a file in UTF-8, whatever its encoding is.
final class TextSource {
  private let file: any ByteSource
  /// Nil for UTF-8.
  private var decoder: TextDecoder?
  /// Bytes of the file that have not been handed out.
  private var buffer: UnsafeMutableRawBufferPointer
  private var pending: Range<Int> = 0..<0
  private var isAtEnd = false
  private var textCount = 0

  /// The encoding that was given or found.
  private(set) var encoding: TextEncoding
  /// Whether the text is JSON Lines; false if the encoding was given.
  private(set) var isJSONLines = false

  private static let capacity = 256 * 1024

  /// Looks at the beginning of some bytes, if that must show their encoding.
  ///
  /// Of what is no regular file, it waits then for as much as ``FileContent`` needs, or for its end.
  ///
  /// - Parameters:
  ///   - file: The bytes.
  ///   - encoding: Their encoding; nil to find it.
  ///   - acceptsJSONLines: Whether they may be JSON Lines.
  /// - Throws: ``CSVReaderError`` with the code `cannotRead` or `foreignContent`.
  init(
    _ file: any ByteSource, encoding: TextEncoding?, acceptsJSONLines: Bool = false
  ) throws(CSVReaderError) {
    self.file = file
    buffer = .allocate(byteCount: Self.capacity, alignment: 16)
    self.encoding = encoding ?? .utf8
    // What was said is not doubted.
    if encoding == nil {
      while !isAtEnd, pending.count < FileContent.sampleSize { try fill() }
      switch FileContent(of: UnsafeRawBufferPointer(rebasing: buffer[pending]), isWhole: isAtEnd) {
      case .foreign(let meaning): throw CSVReaderError(.foreignContent, path: path, message: meaning)
      case .text(let found): self.encoding = found
      case .jsonLines where acceptsJSONLines: isJSONLines = true
      case .jsonLines: throw CSVReaderError(.foreignContent, path: path, message: "This is JSON.")
      }
    }
    if self.encoding != .utf8 { decoder = TextDecoder(from: self.encoding.name) }
  }

  deinit { buffer.deallocate() }

  var path: String { file.path }
  /// How many bytes have been read.
  var bytesRead: Int { file.bytesRead }
  /// The size of the file in bytes, if it is known.
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
  /// - Throws: ``CSVReaderError`` with the code `cannotRead`.
  func read(into target: UnsafeMutableRawBufferPointer) throws(CSVReaderError) -> Int {
    guard let decoder else {
      if !pending.isEmpty {
        let count = min(pending.count, target.count)
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[pending.prefix(count)]))
        pending.removeFirst(count)
        textCount += count
        return count
      }
      let count = try file.read(into: target)
      textCount += count
      return count
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
  private func fill() throws(CSVReaderError) {
    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[pending]))
    pending = 0..<pending.count
    let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[pending.count...]))
    pending = 0..<pending.count + count
    isAtEnd = count == 0
  }
}
