/// A row that is assembled while a value is encoded.
final class EncodedRow {
  /// The column names: the ones that were specified, or the keys of the value.
  private(set) var names: [String]
  private(set) var fields: [String]
  private let mayAddNames: Bool
  private let path: String
  private let rowNumber: Int
  /// The column after the one that was set last, which is usually the column of the next key.
  private var next = 0

  /// The error for a type that requested a container that a field can't contain.
  ///
  /// The type might not encode anything into it.
  private var refusal: CSVWriterError?

  /// The number of fields that were appended without a name.
  var appendedCount: Int { next }

  init(columns: [String]?, path: String, rowNumber: Int) {
    names = columns ?? []
    fields = Array(repeating: "", count: names.count)
    mayAddNames = columns == nil
    (self.path, self.rowNumber) = (path, rowNumber)
  }

  func encode(_ value: some Encodable) throws {
    if let convertible = value as? any CSVFieldConvertible {
      try append(convertible)
    } else {
      try value.encode(to: RowEncoder(row: self))
    }
    if let refusal { throw refusal }
  }

  /// Records that a type encodes several values although a field contains one.
  func refuse(_ name: String?, _ type: Any.Type) -> CSVWriterError {
    let error = error(
      .unsupportedType, name,
      "\(CSVRow.name(of: type)) encodes several values, and a field holds one: make it CSVFieldConvertible.")
    refusal = refusal ?? error
    return error
  }

  /// Sets the field of a key.
  @inline(__always)
  func set(_ value: some CSVFieldConvertible, _ name: String) throws(CSVWriterError) {
    guard let text = value.writableField else { throw notFinite(value, name) }
    try setText(text, name)
  }

  /// Leaves the field of a key empty.
  func setNil(_ name: String) throws(CSVWriterError) { try setText("", name) }

  /// Appends a field without a name.
  func append(_ value: some CSVFieldConvertible) throws(CSVWriterError) {
    guard let text = value.writableField else { throw notFinite(value, "\(next)") }
    appendText(text)
  }

  func appendText(_ text: String) {
    if next < fields.count { fields[next] = text } else { fields.append(text) }
    next += 1
  }

  private func setText(_ text: String, _ name: String) throws(CSVWriterError) {
    if next >= names.count || names[next] != name {
      if let position = names.firstIndex(of: name) {
        next = position
      } else {
        guard mayAddNames else {
          throw error(.noSuchColumn, name, "There is no such column; there are \(names.joined(separator: ", ")).")
        }
        next = names.count
        names.append(name)
        fields.append("")
      }
    }
    fields[next] = text
    next += 1
  }

  func error(_ code: CSVWriterError.Code, _ columnName: String?, _ message: String) -> CSVWriterError {
    CSVWriterError(code, path: path, rowNumber: rowNumber, columnName: columnName, context: message)
  }

  /// Creates an error from the error that a type threw while it was encoded.
  func error(_ error: any Error, encoding type: Any.Type, columnName: String?) -> CSVWriterError {
    var details: EncodingError.Context?
    if case .invalidValue(_, let context)? = error as? EncodingError { details = context }
    let reason = details?.debugDescription ?? "\(error)"
    return CSVWriterError(
      .invalidValue, path: path, rowNumber: rowNumber,
      columnName: columnName ?? details?.codingPath.last?.stringValue,
      context: "A \(CSVRow.name(of: type)) can't be encoded: \(reason)".withFullStop, underlyingError: error)
  }

  private func notFinite(_ value: Any, _ name: String) -> CSVWriterError {
    CSVWriterError(notFinite: value, path: path, rowNumber: rowNumber, columnName: name)
  }
}

extension String {
  /// The text with a full stop, unless it ends with one.
  var withFullStop: String { hasSuffix(".") ? self : self + "." }
}

extension CSVFieldConvertible {
  /// The field for the value.
  ///
  /// Nil for a number that is not finite, because a reader could not read it.
  @inline(__always)
  var writableField: String? {
    let isFinite = (self as? Double)?.isFinite ?? (self as? Float)?.isFinite ?? true
    return isFinite ? csvField : nil
  }
}
