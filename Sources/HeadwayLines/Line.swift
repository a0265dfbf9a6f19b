extension LineReader {
  /// One line of a file, which refers to the buffer that it was read into.
  ///
  /// ```swift
  /// try reader.forEachLine { line in
  ///   if line.bytes.first == UInt8(ascii: "#") { print(line.number, try line.string) }
  /// }
  /// ```
  ///
  /// It can't be copied, so it can't outlive that buffer. Its line ending is not part of it. NUL bytes are bytes like
  /// all others.
  public struct Line: ~Copyable {
    /// The bytes of the line, without its line ending.
    ///
    /// The pointer is valid as long as the line is. Do not store it; copy the values that you need.
    public let bytes: UnsafeRawBufferPointer

    /// The number of the line, starting at one.
    public let number: Int

    /// The offset of the line in the file, in bytes.
    ///
    /// A byte order mark counts, although it is not part of the first line.
    public let byteOffset: Int

    /// Not retained.
    ///
    /// The code that creates a line keeps the storage alive while the line exists, so a line costs no reference
    /// counting.
    private let storage: Unmanaged<LineStorage>

    @inline(__always)
    init(bytes: UnsafeRawBufferPointer, number: Int, byteOffset: Int, storage: Unmanaged<LineStorage>) {
      self.bytes = bytes
      self.number = number
      self.byteOffset = byteOffset
      self.storage = storage
    }

    /// The line as a string.
    ///
    /// A new string is created each time you read this property.
    ///
    /// ``LineReader/Options/invalidUTF8Policy`` specifies whether bytes that are not UTF-8 are rejected or replaced by
    /// U+FFFD.
    ///
    /// - Throws: ``LineReaderError`` with the code `invalidUTF8`, the number of the line, and the position of the first
    ///   wrong byte.
    /// - Complexity: O(n) in the length of the line.
    public var string: String {
      get throws(LineReaderError) {
        let text = bytes.assumingMemoryBound(to: UInt8.self)
        // Repairs invalid UTF-8. On Swift 6.3 this takes half the time of `String(validating:as:)`, even with the check
        // below.
        var string = String(decoding: text, as: UTF8.self)
        if text.isEmpty || text.isASCII { return string }
        let isError = storage._withUnsafeGuaranteedRef { $0.invalidUTF8Policy == .throw }
        guard isError, !string.hasUTF8(text) else { return string }
        throw LineReaderError(
          .invalidUTF8, path: storage._withUnsafeGuaranteedRef { $0.path }, lineNumber: number,
          byteOffset: byteOffset + text.countOfValidUTF8)
      }
    }
  }
}

extension String {
  /// Returns whether these are the bytes of the string.
  ///
  /// A repaired string never has the bytes that it was created from.
  @inline(__always)
  fileprivate mutating func hasUTF8(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    withUTF8 { utf8 in
      guard utf8.count == bytes.count, let start = utf8.baseAddress, let other = bytes.baseAddress else {
        return utf8.isEmpty && bytes.isEmpty
      }
      return Platform.areEqual(start, other, count: utf8.count)
    }
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether all bytes are below 128.
  ///
  /// In most files, this avoids the comparison with the string for most lines. Use it only for lines in a storage: it
  /// reads up to eight bytes after the line, and ignores them.
  @inline(__always)
  fileprivate var isASCII: Bool {
    guard let start = UnsafeRawPointer(baseAddress) else { return true }
    let highBits: UInt64 = 0x8080_8080_8080_8080
    var found: UInt64 = 0
    var offset = 0
    while offset &+ 8 < count {
      found |= start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      offset &+= 8
    }
    // The last one to eight bytes, and bytes after the line, which are shifted out. The storage's slack makes them
    // readable.
    let last = UInt64(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    found |= last &<< UInt64(truncatingIfNeeded: 64 &- (count &- offset) &* 8)
    return found & highBits == 0
  }

  /// The number of bytes before the first one that is not part of a well-formed character.
  ///
  /// Slow; used only for errors.
  fileprivate var countOfValidUTF8: Int {
    var parser = Unicode.UTF8.ForwardParser()
    var iterator = makeIterator()
    var count = 0
    while case .valid(let character) = parser.parseScalar(from: &iterator) { count += character.count }
    return count
  }
}
