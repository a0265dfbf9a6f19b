/// The text of a file in UTF-8, regardless of the encoding of the file.
final class TextSource {
  private let file: any ByteSource
  /// Nil for UTF-8.
  private var decoder: TextDecoder?
  /// Bytes of the file that have not been handed out.
  private var buffer: UnsafeMutableRawBufferPointer
  private var pending: Range<Int> = 0..<0
  private var isAtEnd = false
  private var textCount = 0

  /// Whether all text so far is ASCII, which is the same in each encoding that the rest might have.
  private var isUndecided = false

  /// The specified or detected encoding.
  ///
  /// UTF-8 as long as all text is ASCII.
  private(set) var encoding: CSVTextEncoding
  /// Whether the encoding is a guess, based on the characters of the text.
  private(set) var isAssumed = false
  /// Whether the text is JSON Lines.
  private(set) var isJSONLines = false

  private static let capacity = 256 * 1024

  /// Examines the beginning of some bytes, if it must determine their encoding.
  ///
  /// For text that begins as ASCII, the encoding is determined at the first non-ASCII character.
  ///
  /// If the encoding must be determined, this waits for as many bytes of a file that is not regular as ``FileContent``
  /// needs, or for the end of the file.
  ///
  /// - Parameters:
  ///   - file: The source of the bytes.
  ///   - encoding: The encoding of the bytes. Nil to detect it.
  ///   - acceptsJSONLines: Whether they can be JSON Lines.
  /// - Throws: ``CSVReaderError`` with the code `cannotRead` or `foreignContent`.
  init(
    _ file: any ByteSource, encoding: CSVTextEncoding?, acceptsJSONLines: Bool = false
  ) throws(CSVReaderError) {
    self.file = file
    buffer = .allocate(byteCount: Self.capacity, alignment: 16)
    self.encoding = encoding ?? .utf8
    // A specified encoding is not questioned.
    if encoding == nil {
      while !isAtEnd, pending.count < FileContent.sampleSize { try fill() }
      let content = FileContent(
        of: UnsafeRawBufferPointer(rebasing: buffer[pending]), isWhole: isAtEnd,
        isNamedJSONLines: acceptsJSONLines && FileContent.isNamedJSONLines(file.path))
      switch content {
      case .foreign(let meaning): throw CSVReaderError(.foreignContent, path: path, context: meaning)
      case .text(let found?): self.encoding = found
      case .text(nil): isUndecided = true
      case .jsonLines where acceptsJSONLines: isJSONLines = true
      case .jsonLines: throw CSVReaderError(.foreignContent, path: path, context: "This is JSON.")
      }
    }
    if self.encoding != .utf8 { decoder = TextDecoder(from: self.encoding.name) }
    if acceptsJSONLines, encoding != nil || decoder != nil { try findJSONLines(isQuestioned: encoding == nil) }
  }

  /// Examines the decoded beginning of a file whose bytes don't show whether it is JSON Lines.
  ///
  /// - Parameter isQuestioned: Whether text in another format is rejected.
  /// - Throws: ``CSVReaderError`` with the code `cannotRead` or `foreignContent`.
  private func findJSONLines(isQuestioned: Bool) throws(CSVReaderError) {
    while !isAtEnd, pending.count < FileContent.sampleSize { try fill() }
    let source = UnsafeRawBufferPointer(rebasing: buffer[pending])
    // A single-byte character becomes at most three bytes in UTF-8.
    let text = UnsafeMutableRawBufferPointer.allocate(byteCount: 3 * source.count + 16, alignment: 1)
    defer { text.deallocate() }
    let count: Int
    if let decoder = decoder.flatMap({ _ in TextDecoder(from: encoding.name) }) {
      count = decoder.decode(source, isFinal: isAtEnd, into: text).written
    } else {
      text.copyMemory(from: source)
      count = source.count
    }
    let content = FileContent(
      of: UnsafeRawBufferPointer(rebasing: text[..<count]), isWhole: isAtEnd,
      isNamedJSONLines: FileContent.isNamedJSONLines(file.path))
    switch content {
    case .jsonLines: isJSONLines = true
    case .foreign(let meaning) where isQuestioned: throw CSVReaderError(.foreignContent, path: path, context: meaning)
    case .foreign, .text: break
    }
  }

  deinit { buffer.deallocate() }

  /// Blocks until reading would not block and checks for a cancellation from time to time.
  ///
  /// Returns immediately if there are bytes that have been read and not handed out.
  func waitUntilReadable(_ check: () throws -> Void) throws {
    if pending.isEmpty, !isAtEnd { try file.waitUntilReadable(check) } else { try check() }
  }

  var path: String { file.path }
  /// Whether the text can be read again.
  var canBeReopened: Bool { file.size != nil }

  /// Returns a source that reads the same text again from its start, in the same encoding.
  ///
  /// Nil if it can be read only once.
  func reopened() throws(CSVReaderError) -> TextSource? {
    guard let file = try file.reopened() else { return nil }
    return try TextSource(file, encoding: encoding)
  }

  /// The number of bytes that have been read.
  var bytesRead: Int { file.bytesRead }
  /// The size of the file in bytes, if it is known.
  var size: Int? { file.size }

  /// Returns the position in the file that corresponds to a position in the text.
  ///
  /// It is approximate if the encoding is not UTF-8, or if the file is compressed.
  func fileOffset(ofText offset: Int) -> Int {
    guard decoder != nil || file.countsCompressedBytes, textCount > 0 else { return offset }
    return Int(
      Double(offset) * Double(file.bytesRead - (file.countsCompressedBytes ? 0 : pending.count)) / Double(textCount))
  }

  /// Reads the next bytes of the text.
  ///
  /// - Parameter target: The destination, at least 16 bytes.
  /// - Returns: The number of bytes that were read. Zero at the end.
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

  /// Reads text up to the first non-ASCII character.
  ///
  /// - Returns: The number of bytes that were read. Nil if there are none before that character; the encoding has then
  ///   been determined.
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

  /// Determines the encoding from the whole file, or from the available bytes of a file that can be read only once.
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
      // The line must be complete, so that no character is cut off.
      while !isAtEnd, pending.count < Self.capacity, !buffer[pending].contains(UInt8(ascii: "\n")) { try fill() }
      evidence.add(UnsafeRawBufferPointer(rebasing: buffer[pending]))
      isWhole = isAtEnd
    }
    encoding = evidence.encoding(isWhole: isWhole)
    guard encoding != .utf8 else { return }
    isAssumed = true
    decoder = TextDecoder(from: encoding.name)
  }

  /// Moves the pending bytes to the front and reads more bytes after them.
  private func fill() throws(CSVReaderError) {
    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[pending]))
    pending = 0..<pending.count
    let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[pending.count...]))
    pending = 0..<pending.count + count
    isAtEnd = count == 0
  }
}
