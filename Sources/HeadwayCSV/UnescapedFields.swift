/// The content of the current record's fields that is not a contiguous part of the record: with doubled or escaped
/// quotes replaced, and without the spaces before the field.
///
/// A field's content is stored at the offset that the field has in its record. Therefore, the fields of one record
/// never overlap, all can be used at the same time, and only their lengths need a table. Both buffers grow to the
/// largest record that needs them and are then reused: no allocation per record.
struct UnescapedFields: ~Copyable {
  private(set) var view: UnescapedFieldsView
  private var contentCapacity: Int
  private var lengthCapacity: Int

  init() {
    contentCapacity = 256
    lengthCapacity = 64
    view = UnescapedFieldsView(
      contents: .allocate(byteCount: contentCapacity, alignment: 1), lengths: .allocate(capacity: lengthCapacity))
  }

  deinit {
    view.contents.deallocate()
    view.lengths.deallocate()
  }

  /// Writes the content of every field of a record that needs it.
  @inline(never)
  mutating func fill(
    from record: UnsafeRawBufferPointer, ends: UnsafeMutablePointer<FieldEnd>, count: Int, _ dialect: CSVDialect
  ) {
    reserve(bytes: record.count, fields: count)
    var fieldStart = 0
    for index in 0..<count {
      let end = ends[index]
      if end.isRewritten {
        let field = Self.content(of: record[fieldStart..<end.position], isQuoted: end.isQuoted, dialect)
        view.lengths[index] = UInt32(
          end.isQuoted
            ? Self.unescape(field, to: view.contents + fieldStart, dialect)
            : Self.copy(field, to: view.contents + fieldStart))
      }
      fieldStart = end.position + 1
    }
  }

  /// Returns a field without the spaces around it and the quotes around it.
  ///
  /// Spaces at its end are part of a field without quotes.
  private static func content(
    of field: Slice<UnsafeRawBufferPointer>, isQuoted: Bool, _ dialect: CSVDialect
  ) -> UnsafeRawBufferPointer {
    var field = field
    if dialect.skipsSpacesAfterDelimiter {
      if field.startIndex > 0 { field = field.drop { $0 == UInt8(ascii: " ") } }
      while isQuoted, field.last == UInt8(ascii: " ") { field.removeLast() }
    }
    return UnsafeRawBufferPointer(rebasing: isQuoted ? field.dropFirst().dropLast() : field)
  }

  private static func copy(_ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer) -> Int {
    if let start = source.baseAddress { target.copyMemory(from: start, byteCount: source.count) }
    return source.count
  }

  /// Copies bytes, with each doubled or escaped quote replaced by one, and returns the number of bytes that were
  /// written.
  private static func unescape(
    _ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer, _ dialect: CSVDialect
  ) -> Int {
    let (quote, escape) = (dialect.quote, dialect.escape)
    var written = 0
    var index = 0
    while index < source.count {
      let isEscaped =
        source[index] == escape && index + 1 < source.count && [quote, escape].contains(source[index + 1])
      if isEscaped { index += 1 }
      let byte = source[index]
      target.storeBytes(of: byte, toByteOffset: written, as: UInt8.self)
      written += 1
      let isDoubled = byte == quote && !isEscaped && index + 1 < source.count && source[index + 1] == quote
      index += isDoubled ? 2 : 1
    }
    return written
  }

  /// Makes room for the content of a record.
  mutating func reserve(bytes: Int, fields: Int) {
    if bytes > contentCapacity {
      contentCapacity = max(bytes, contentCapacity * 2)
      view.contents.deallocate()
      view.contents = .allocate(byteCount: contentCapacity, alignment: 1)
    }
    if fields > lengthCapacity {
      lengthCapacity = max(fields, lengthCapacity * 2)
      view.lengths.deallocate()
      view.lengths = .allocate(capacity: lengthCapacity)
    }
  }
}

/// The data that a record needs to find its unescaped fields.
@usableFromInline
struct UnescapedFieldsView {
  @usableFromInline var contents: UnsafeMutableRawPointer
  @usableFromInline var lengths: UnsafeMutablePointer<UInt32>

  init(contents: UnsafeMutableRawPointer, lengths: UnsafeMutablePointer<UInt32>) {
    self.contents = contents
    self.lengths = lengths
  }

  /// Returns the content of a rewritten field that starts at an offset from the start of its record.
  @inlinable
  func bytes(ofField index: Int, at fieldStart: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: contents + fieldStart, count: Int(lengths[index]))
  }
}
