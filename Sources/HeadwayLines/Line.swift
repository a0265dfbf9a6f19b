extension LineReader {
  /// One line of a file, to be looked at where it was read.
  ///
  /// ```swift
  /// try reader.forEachLine { line in
  ///   if line.bytes.first == UInt8(ascii: "#") { print(line.number, try line.string) }
  /// }
  /// ```
  ///
  /// It cannot be copied, so it cannot outlive the memory it lies in. Its line end is not part of it. NUL bytes are
  /// bytes like all others.
  public struct Line: ~Copyable {
    /// The bytes of the line, without its line end.
    ///
    /// The pointer is valid while the line is: do not keep it, copy what you need.
    public let bytes: UnsafeRawBufferPointer

    /// The number of the line, counted from one.
    public let number: Int

    /// The place in the file where the line starts, in bytes from the file's start.
    ///
    /// A byte order mark counts, though it is not part of the first line.
    public let byteOffset: Int

    /// Not retained: whoever makes a line keeps the storage while the line exists, and so a line costs no reference
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
    /// Made anew whenever it is asked for.
    ///
    /// Bytes that are not UTF-8 are reported or replaced by U+FFFD, as ``LineReader/Options/invalidUTF8`` says.
    ///
    /// - Throws: ``LineReaderError`` with the code `invalidUTF8`, the line's number and the place of the first wrong
    ///   byte.
    /// - Complexity: O(n) in the length of the line.
    public var string: String {
      get throws(LineReaderError) {
        let text = bytes.assumingMemoryBound(to: UInt8.self)
        // Repairs, and takes half the time of `String(validating:as:)` on 6.3, even with what follows.
        var string = String(decoding: text, as: UTF8.self)
        if text.isEmpty || text.isASCII { return string }
        let isReported = storage._withUnsafeGuaranteedRef { $0.invalidUTF8 == .report }
        guard isReported, !string.hasUTF8(text) else { return string }
        throw LineReaderError(
          .invalidUTF8, path: storage._withUnsafeGuaranteedRef { $0.path }, lineNumber: number,
          byteOffset: byteOffset + text.countOfValidUTF8)
      }
    }
  }
}

extension String {
  /// Whether these are the string's bytes.
  ///
  /// A repaired string never has the bytes it was made from.
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
  /// Spares the comparison with the string for most lines of most files. Only for lines of a storage: it reads up to
  /// eight bytes too many, and throws them away.
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
    // The last one to eight bytes, and what lies behind the line, which is shifted out: the storage's slack is there.
    let last = UInt64(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    found |= last &<< UInt64(truncatingIfNeeded: 64 &- (count &- offset) &* 8)
    return found & highBits == 0
  }

  /// How many bytes come before the first that is not part of a well-formed character.
  ///
  /// Slow; for errors.
  fileprivate var countOfValidUTF8: Int {
    var parser = Unicode.UTF8.ForwardParser()
    var iterator = makeIterator()
    var count = 0
    while case .valid(let character) = parser.parseScalar(from: &iterator) { count += character.count }
    return count
  }
}
