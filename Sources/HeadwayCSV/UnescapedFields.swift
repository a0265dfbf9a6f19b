/// The content of the current record's fields that is not a stretch of the record: with doubled or escaped quotes
/// undone, and without the spaces before it.
///
/// A field's content is kept at the offset that the field has in its record, so the fields of one record never overlap
/// and all can be used at the same time; only their lengths need a table. Both grow to the largest record that needs
/// them and are then reused: no allocation per record.
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

  /// A field without the spaces before it and the quotes around it.
  private static func content(
    of field: Slice<UnsafeRawBufferPointer>, isQuoted: Bool, _ dialect: CSVDialect
  ) -> UnsafeRawBufferPointer {
    var field = field
    if dialect.skipsSpacesAfterDelimiter, field.startIndex > 0 { field = field.drop { $0 == UInt8(ascii: " ") } }
    return UnsafeRawBufferPointer(rebasing: isQuoted ? field.dropFirst().dropLast() : field)
  }

  private static func copy(_ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer) -> Int {
    if let start = source.baseAddress { target.copyMemory(from: start, byteCount: source.count) }
    return source.count
  }

  /// Copies bytes in which quotes are doubled or escaped, each pair as one, and returns how many were written.
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

/// What a record needs to find its unescaped fields.
@usableFromInline
struct UnescapedFieldsView {
  @usableFromInline var contents: UnsafeMutableRawPointer
  @usableFromInline var lengths: UnsafeMutablePointer<UInt32>

  init(contents: UnsafeMutableRawPointer, lengths: UnsafeMutablePointer<UInt32>) {
    self.contents = contents
    self.lengths = lengths
  }

  /// The content of a field that was rewritten and starts at an offset from its record's start.
  @inlinable
  func bytes(ofField index: Int, at fieldStart: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: contents + fieldStart, count: Int(lengths[index]))
  }
}
