extension LayoutRecords {
  /// The number of records that name the columns.
  ///
  /// A record counts as a row unless it is proved not to be one, because a row that becomes part of the names is lost.
  /// In several columns, the additional records have no value of the column's type. In text columns, they have no text
  /// that might be a value. Each of them repeats the first record, fills its gaps, or has units and type names. A word
  /// alone never proves anything, because a word in a column of numbers can represent a missing value.
  var headerRecordCount: Int {
    for depth in [3, 2] where records.count > depth + 1 {
      let typed = Set(typedColumns(behind: depth))
      let areNames = records[..<depth].allSatisfy { record in
        guard record.count == width else { return false }
        let values = typed.map { record.fields[$0] }.filter { !$0.isEmpty }
        return values.count > 1 && values.allSatisfy { ValueKind($0) == nil }
      }
      if areNames, (1..<depth).allSatisfy({ continuesHeader(records[$0], typed, rowsFrom: depth) }) { return depth }
    }
    return 1
  }

  /// Returns whether a record continues the names of the first record.
  private func continuesHeader(_ record: SampleRecord, _ typed: Set<Int>, rowsFrom start: Int) -> Bool {
    let header = records[0]
    if record.fields == header.fields { return true }
    guard !isLikeRow(record, from: start) else { return false }
    let filled = record.fields.indices.filter { !record.fields[$0].isEmpty }
    let gaps = header.fields.indices.filter { header.fields[$0].isEmpty }
    if gaps.count > 1, gaps == filled { return areNames(filled.map { record.fields[$0] }) }
    let (inNumbers, inTexts) = (filled.filter(typed.contains), filled.filter { !typed.contains($0) })
    guard inTexts.allSatisfy({ HeaderWord.isType(record.fields[$0]) }) else { return false }
    let units = inNumbers.filter { HeaderWord.isUnit(record.fields[$0]) || HeaderWord.isType(record.fields[$0]) }
    return units.count + inTexts.count > 1 && (units == inNumbers || inTexts.count > 1)
  }

  /// Returns whether all fields are different words of several letters.
  private func areNames(_ fields: [[UInt8]]) -> Bool {
    Set(fields).count == fields.count
      && fields.allSatisfy { field in
        !ValueKind.isMissing(field) && field.count > 1 && field.first.map { $0 | 0x20 > 0x60 || $0 >= 0x80 } == true
      }
  }

  /// Returns whether a record has text with digits, or text that occurs again farther down in its column.
  private func isLikeRow(_ record: SampleRecord, from start: Int) -> Bool {
    let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    return record.fields.indices.contains { column in
      let field = record.fields[column]
      guard !field.isEmpty, !HeaderWord.isUnit(field) else { return false }
      return field.contains(where: isDigit)
        || records[start...].contains { $0.count == width && $0.fields[column] == field }
    }
  }
}

/// Words that can appear in the second line of a header, below the name of a column.
enum HeaderWord {
  /// Returns whether a field is the name of a type.
  static func isType(_ field: [UInt8]) -> Bool { types.contains(String(decoding: field, as: UTF8.self).lowercased()) }

  /// Returns whether a field is a common unit, with or without brackets around it.
  ///
  /// Symbols of one or two letters must have the usual case, because sizes such as `S` and `M` are values.
  static func isUnit(_ field: [UInt8]) -> Bool {
    guard field.count <= 14 else { return false }
    var text = String(decoding: field, as: UTF8.self)
    if let first = text.first, let last = text.last, text.count > 2, ["()", "[]"].contains("\(first)\(last)") {
      text = String(text.dropFirst().dropLast())
    }
    return units.contains(text) || (text.count > 2 && lowercasedUnits.contains(text.lowercased()))
  }

  private static let types: Set<String> = [
    "text", "string", "varchar", "char", "integer", "int", "bigint", "number", "numeric", "decimal", "real", "float",
    "double", "boolean", "bool", "date", "time", "datetime", "timestamp", "yyyy-mm-dd", "hh:mm", "hh:mm:ss",
  ]

  private static let units: Set<String> = [
    "m", "km", "cm", "mm", "ft", "mi", "kg", "g", "mg", "lb", "s", "sec", "min", "h", "hours", "days", "years", "ms",
    "m/s", "km/h", "mph", "kn", "deg", "degrees", "deg C", "degC", "°C", "°F", "°", "Pa", "hPa", "kPa", "mbar", "kW",
    "kWh", "MWh", "Hz", "%", "percent", "ppm", "EUR", "USD", "GBP", "CHF", "€", "$", "£", "l", "ml", "m2", "m3", "m²",
    "m³", "ha", "W", "V", "A", "K",
  ]
  private static let lowercasedUnits = Set(units.map { $0.lowercased() })
}
