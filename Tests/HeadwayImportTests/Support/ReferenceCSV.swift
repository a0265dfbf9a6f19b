/// Splits CSV by RFC 4180 into rows, independently of the package's parser.
///
/// For well-formed text only.
func referenceRows(_ bytes: [UInt8], delimiter: Character = ",") -> [[String]] {
  let (quote, newline, delimiter) = (UInt8(ascii: "\""), UInt8(ascii: "\n"), delimiter.asciiValue ?? 0)
  var rows: [[String]] = []
  var row: [String] = []
  var field: [UInt8] = []
  var isQuoted = false
  var position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0

  func endField() {
    row.append(String(decoding: field, as: UTF8.self))
    field.removeAll(keepingCapacity: true)
  }
  while position < bytes.count {
    let byte = bytes[position]
    if isQuoted, byte == quote, position + 1 < bytes.count, bytes[position + 1] == quote {
      field.append(quote)
      position += 1
    } else if byte == quote {
      isQuoted.toggle()
    } else if !isQuoted, byte == delimiter {
      endField()
    } else if !isQuoted, byte == newline {
      if field.last == UInt8(ascii: "\r") { field.removeLast() }
      endField()
      rows.append(row)
      row = []
    } else {
      field.append(byte)
    }
    position += 1
  }
  if !field.isEmpty || !row.isEmpty {
    endField()
    rows.append(row)
  }
  return rows
}
