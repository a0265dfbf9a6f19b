import Headway

extension LineReader.Line {
  /// The bytes between two fields.
  enum Separator: Sendable {
    case byte(UInt8)
    /// A text of at least two bytes.
    case text(String)

    init(_ text: String) {
      require(!text.isEmpty, "LineReader.Line: a line is split at an empty text. Specify the text between fields.")
      let utf8 = text.utf8
      self = if let first = utf8.first, utf8.count == 1 { .byte(first) } else { .text(text) }
    }
  }

  /// The fields of a line.
  ///
  /// See ``LineReader/Line/split(separator:omittingEmptySubsequences:)-(String,_)``.
  public struct Fields: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private let separator: Separator
    private let omitsEmptyFields: Bool
    /// The start of the next field.
    ///
    /// Nil if there is none.
    private var start: Int? = 0

    /// - Parameters:
    ///   - bytes: The bytes of a line, with the storage's slack after them.
    ///   - separator: The bytes between two fields.
    ///   - omitsEmptyFields: Whether fields without bytes are omitted.
    init(_ bytes: UnsafeRawBufferPointer, separator: Separator, omitsEmptyFields: Bool) {
      (self.bytes, self.separator, self.omitsEmptyFields) = (bytes, separator, omitsEmptyFields)
    }

    /// Finds the next field.
    ///
    /// - Returns: The field, or nil after the last one.
    /// - Complexity: O(n) in the length of the field.
    public mutating func next() -> Field? {
      while let start {
        let field = UnsafeRawBufferPointer(rebasing: bytes[start..<endOfField(from: start)])
        if !omitsEmptyFields || !field.isEmpty { return Field(field) }
      }
      return nil
    }

    /// Returns the field at an offset from the next field, which has the offset 0.
    func field(at position: Int) -> Field? {
      require(position >= 0, "LineReader.Line: a field at \(position). Positions start at 0.")
      var fields = self
      for _ in 0..<position where fields.next() == nil { return nil }
      return fields.next()
    }

    /// Finds the end of a field and sets the start of the field after it.
    private mutating func endOfField(from start: Int) -> Int {
      var end = bytes.count
      var separatorLength = 1
      switch separator {
      case .byte(let byte):
        if let base = bytes.baseAddress { end = Platform.position(of: byte, in: base, from: start, to: end) }
      case .text(var text):
        text.withUTF8 { pattern in
          let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
          if let offset = ByteSearch.position(of: UnsafeRawBufferPointer(pattern), in: rest) { end = start + offset }
          separatorLength = pattern.count
        }
      }
      self.start = end < bytes.count ? end + separatorLength : nil
      return end
    }
  }
}
