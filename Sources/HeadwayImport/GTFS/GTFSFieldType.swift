/// The field types of the GTFS Schedule reference, and how each is stored.
///
/// The tables are declared with the reference's own types, so that you can compare them with it line by line.
enum GTFSFieldType {
  case id, text, url, email, phoneNumber, languageCode, timezone, color
  case date, time, localTime
  case currencyCode, currencyAmount
  case enumeration, textEnumeration, integer
  case float, latitude, longitude

  var storage: ColumnType {
    switch self {
    case .id, .text, .url, .email, .phoneNumber, .languageCode, .timezone, .color: .text
    // As text, because `20260101` is not a quantity, and `25:30:00` has no other faithful form. Both sort correctly;
    // times do as long as the feed writes the hour with two digits (the reference also allows `6:20:00`).
    case .date, .time, .localTime: .text
    // An amount is text. The reference discourages floating point for it, because 0.10 is not a binary fraction, and
    // the number of decimal places carries meaning (ISO 4217 prescribes it for each currency). SQLite's arithmetic
    // still reads it as a number. `fare_attributes.price` is `.float` because there the reference itself specifies
    // "Non-negative float".
    case .currencyCode, .currencyAmount: .text
    // The values of `translations.table_name` are names; those of all other enumerations are numbers.
    case .textEnumeration: .text
    case .enumeration, .integer: .integer
    case .float, .latitude, .longitude: .real
    }
  }
}

extension ColumnSchema {
  /// A column that has a value in every row of every valid feed.
  ///
  /// A row without the value has no meaning.
  static func required(_ type: GTFSFieldType, _ name: String) -> ColumnSchema {
    ColumnSchema(name: name, type: type.storage, isRequired: true)
  }

  /// A required column whose values refer to one column of one table.
  static func required(
    _ type: GTFSFieldType, _ name: String, references table: String, _ column: String
  ) -> ColumnSchema {
    ColumnSchema(
      name: name, type: type.storage, isRequired: true, reference: ColumnReference(table: table, column: column))
  }

  /// A column that is empty in some rows of some feeds.
  static func optional(_ type: GTFSFieldType, _ name: String) -> ColumnSchema {
    ColumnSchema(name: name, type: type.storage)
  }

  /// An optional column whose values, where present, refer to one column of one table.
  static func optional(
    _ type: GTFSFieldType, _ name: String, references table: String, _ column: String
  ) -> ColumnSchema {
    ColumnSchema(name: name, type: type.storage, reference: ColumnReference(table: table, column: column))
  }
}

extension TableSchema {
  /// A table of the reference, with an index on each referring column that the key's own index does not cover.
  ///
  /// Joins from the referenced table, and queries for rows without a counterpart, use these indices.
  ///
  /// - Parameters:
  ///   - name: The file's name without `.txt`.
  ///   - key: The primary key as defined in the reference; empty for `*` (all fields together) and `none` (one row).
  ///   - indices: Further columns to index, each separately: columns for selecting rows, and referenced columns that
  ///     are not first in the key.
  ///   - columns: The columns in the reference's order.
  /// - Returns: The table with all its indices.
  static func gtfs(_ name: String, key: [String], indices: [String] = [], columns: [ColumnSchema]) -> TableSchema {
    let referring = columns.filter { $0.reference != nil && $0.name != key.first }.map(\.name)
    return TableSchema(name: name, columns: columns, key: key, indices: (indices + referring).map { [$0] })
  }
}
