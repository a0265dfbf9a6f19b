// The less common cases of requesting a value.
extension CSVRow {
  /// Returns the value of a field that the row lacks, if the type can be nil.
  ///
  /// Otherwise throws an error with the reason.
  @usableFromInline
  func valueOfUnusualField<Value: CSVFieldConvertible>(
    at position: Int, _ name: String
  ) throws(CSVReaderError) -> Value {
    let name = header.names.indices.contains(position) ? header.names[position] : name
    guard let field = unsafeBytes(at: position) else {
      guard position < header.count else { throw noSuchColumn(name) }
      if let type = Value.self as? any ExpressibleByNilLiteral.Type, let none = type.init(nilLiteral: ()) as? Value {
        return none
      }
      throw missingField(name)
    }
    throw invalidValue(field, Value.self, name)
  }

  @usableFromInline
  func noSuchColumn(_ name: String) -> CSVReaderError {
    let names = header.names.prefix(20).joined(separator: ", ") + (header.count > 20 ? " and others" : "")
    return error(.noSuchColumn, name, nil, "There is no such column; there are \(names).")
  }

  @usableFromInline
  func missingField(_ name: String) -> CSVReaderError {
    error(.missingField, name, nil, "The row has no such field: it has \(count).")
  }

  func invalidValue(_ field: UnsafeRawBufferPointer, _ type: Any.Type, _ name: String) -> CSVReaderError {
    defer { withExtendedLifetime(batch) {} }
    let text = field.shortenedText
    guard field.isASCII || String(validating: field, as: UTF8.self) != nil else {
      return error(.invalidUTF8, name, text, "“\(text)” is not valid UTF-8: specify the encoding of the file.")
    }
    let held = field.isEmpty ? "It is empty, and" : "“\(text)”"
    return error(.invalidValue, name, text, "\(held) is no \(Self.name(of: type)).")
  }

  /// Creates an error about this row.
  func error(
    _ code: CSVReaderError.Code, _ columnName: String, _ field: String?, _ message: String,
    underlyingError: (any Error)? = nil
  ) -> CSVReaderError {
    CSVReaderError(
      code, path: batch.path, lineNumber: lineNumber, rowNumber: rowNumber, columnName: columnName, field: field,
      context: message, underlyingError: underlyingError)
  }

  /// The name of a type for people: `Int` for both `Int` and an optional `Int`.
  static func name(of type: Any.Type) -> String {
    let name = "\(type)"
    return name.hasPrefix("Optional<") ? String(name.dropFirst(9).dropLast()) : name
  }
}

extension UnsafeRawBufferPointer {
  /// The text, repaired if necessary, and short enough for a message.
  var shortenedText: String {
    // A character has at most four bytes.
    let text = String(decoding: prefix(80 * 4), as: UTF8.self)
    return text.count <= 80 ? text : text.prefix(80) + "…"
  }
}
