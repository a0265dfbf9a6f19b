extension RecordSource {
  /// The known properties of a file, and which properties to detect.
  package struct Options: Sendable {
    /// The encoding.
    ///
    /// Nil to detect it.
    package var encoding: CSVTextEncoding?
    /// The dialect of the file.
    ///
    /// Nil to detect it.
    package var dialect: CSVDialect?
    /// The delimiter, if the rest of the dialect should be detected.
    package var delimiter: UInt8?
    /// The quote, if the rest of the dialect should be detected.
    package var quote: UInt8?
    /// The escape, if the rest of the dialect should be detected.
    package var escape: UInt8?
    /// The first byte of comment lines, if the rest of the dialect should be detected.
    package var comment: UInt8?
    /// Whether the first record names the columns.
    ///
    /// Nil to detect it, if the layout should be detected.
    package var hasHeader: Bool?
    /// The number of lines before the first record.
    ///
    /// Nil to detect it, if the layout should be detected.
    package var skippedLineCount: Int?
    /// Whether to detect the position of the header.
    package var findsLayout = false
    /// Whether a header whose number of names differs from the number of fields in the rows is considered unusable.
    package var doubtsHeaderOfOtherWidth = true
    /// Whether fields of the rows that have no name get a name from their number.
    package var namesSurplusFields = false
    /// Whether the examined records are kept for ``RecordSource/takeSample()``.
    package var keepsSample = false
    /// The column names for the records: a record with such names is the whole header.
    package var knownNames: [String] = []
    /// Returns the part of a name that determines whether two names are the same.
    package var nameKey: @Sendable (String) -> String = { $0 }
    /// Whether the file can be JSON Lines, which the first line determines.
    ///
    /// The options for CSV are then ignored.
    package var acceptsJSONLines = false
    /// The maximum number of bytes in a record.
    package var maxRecordLength = 16 << 20

    /// Creates options without any known property.
    package init() {}

    /// Whether the beginning of the file is examined before the first record is delivered.
    var needsSample: Bool { dialect == nil || findsLayout }

    /// Returns whether all fields are known names.
    func knows(_ fields: [[UInt8]]) -> Bool { knows(fields.map { String(decoding: $0, as: UTF8.self).trimmingBlanks }) }

    /// Returns whether all names are known.
    func knows(_ names: [String]) -> Bool {
      let known = Set(knownNames.map(nameKey))
      guard !known.isEmpty else { return false }
      return names.allSatisfy { known.contains(nameKey($0)) }
    }
  }
}
