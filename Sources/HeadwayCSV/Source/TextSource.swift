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

  /// All text so far is ASCII, which means the same in each encoding that the rest may have.
  private var isUndecided = false

  /// The encoding that was given or found; UTF-8 while all text is ASCII.
  private(set) var encoding: TextEncoding
  /// Whether the encoding is a guess, by the characters of the text.
  private(set) var isAssumed = false
  /// Whether the text is JSON Lines; false if the encoding was given.
  private(set) var isJSONLines = false

  private static let capacity = 256 * 1024

  /// Looks at the beginning of some bytes, if that must show their encoding.
  ///
  /// Text that begins as ASCII is decided where it has the first other character.
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
      let content = FileContent(
        of: UnsafeRawBufferPointer(rebasing: buffer[pending]), isWhole: isAtEnd,
        isNamedJSONLines: acceptsJSONLines && FileContent.isNamedJSONLines(file.path))
      switch content {
      case .foreign(let meaning): throw CSVReaderError(.foreignContent, path: path, message: meaning)
      case .text(let found?): self.encoding = found
      case .text(nil): isUndecided = true
      case .jsonLines where acceptsJSONLines: isJSONLines = true
      case .jsonLines: throw CSVReaderError(.foreignContent, path: path, message: "This is JSON.")
      }
    }
    if self.encoding != .utf8 { decoder = TextDecoder(from: self.encoding.name) }
  }

  deinit { buffer.deallocate() }

  var path: String { file.path }
  /// Whether the text can be read once more.
  var canBeReopened: Bool { file.size != nil }

  /// The same text once more from its start, in the same encoding; nil where it can be read only once.
  func reopened() throws(CSVReaderError) -> TextSource? {
    guard let file = try file.reopened() else { return nil }
    return try TextSource(file, encoding: encoding)
  }

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
    if isUndecided, let count = try readASCII(into: target) { return count }
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

  /// Reads text up to the first character that is not ASCII.
  ///
  /// - Returns: How many bytes were read; nil if there are none before that character, where the encoding is found.
  private func readASCII(into target: UnsafeMutableRawBufferPointer) throws(CSVReaderError) -> Int? {
    if pending.isEmpty, !isAtEnd { try fill() }
    let count = UnsafeRawBufferPointer(rebasing: buffer[pending.prefix(target.count)]).asciiCount
    guard count > 0 || pending.isEmpty else {
      try findEncoding()
      return nil
    }
    target.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[pending.prefix(count)]))
    pending.removeFirst(count)
    textCount += count
    return count
  }

  /// Finds the encoding: in all of the file, or in what is there of one that can be read only once.
  private func findEncoding() throws(CSVReaderError) {
    isUndecided = false
    var evidence = EncodingEvidence()
    var isWhole = true
    if let whole = try file.reopened() {
      let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.capacity, alignment: 16)
      defer { chunk.deallocate() }
      var count = 0
      repeat {
        count = try whole.read(into: chunk)
        evidence.add(UnsafeRawBufferPointer(rebasing: chunk[..<count]))
      } while count > 0 && !evidence.isEnough
    } else {
      // The line must be complete, so that no character is cut.
      while !isAtEnd, pending.count < Self.capacity, !buffer[pending].contains(UInt8(ascii: "\n")) { try fill() }
      evidence.add(UnsafeRawBufferPointer(rebasing: buffer[pending]))
      isWhole = isAtEnd
    }
    encoding = evidence.encoding(isWhole: isWhole)
    guard encoding != .utf8 else { return }
    isAssumed = true
    decoder = TextDecoder(from: encoding.name)
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
