extension RecordSource {
  /// What is known of a file, and what is to be found.
  package struct Options: Sendable {
    /// The encoding; nil to find it.
    package var encoding: TextEncoding?
    /// How the file is written; nil to find that.
    package var dialect: CSVDialect?
    /// The delimiter, where the rest of the dialect is to be found.
    package var delimiter: UInt8?
    /// The quote, where the rest of the dialect is to be found.
    package var quote: UInt8?
    /// The escape, where the rest of the dialect is to be found.
    package var escape: UInt8?
    /// The first byte of lines that are comments, where the rest of the dialect is to be found.
    package var comment: UInt8?
    /// Whether the first record names the columns; nil to find out, if the layout is to be found.
    package var hasHeader: Bool?
    /// How many lines come before the first record; nil to find out, if the layout is to be found.
    package var skippedLines: Int?
    /// Whether the place of the header is to be found.
    package var findsLayout = false
    /// Whether a header of another number of names than the rows have fields may name nothing.
    package var doubtsHeaderOfOtherWidth = true
    /// Whether fields of the rows that have no name get one from their number.
    package var namesSurplusFields = false
    /// Whether the records that were looked at are kept, for ``RecordSource/takeSample()``.
    package var keepsSample = false
    /// The names of columns into which the records go: a record of such names is the whole header.
    package var knownNames: [String] = []
    /// What two names have in common that count as the same.
    package var nameKey: @Sendable (String) -> String = { $0 }
    /// Whether the file may be JSON Lines, which is found by its first line; the options for CSV do not matter then.
    package var acceptsJSONLines = false
    /// The largest number of bytes in a record.
    package var maximumRecordLength = 16 << 20

    /// Nothing is known.
    package init() {}

    /// Whether the beginning of the file is looked at before the first record is handed out.
    var needsSample: Bool { dialect == nil || findsLayout }

    /// Whether fields are names that are known, all of them.
    func knows(_ fields: [[UInt8]]) -> Bool { knows(fields.map { String(decoding: $0, as: UTF8.self).trimmingBlanks }) }

    /// Whether names are known, all of them.
    func knows(_ names: [String]) -> Bool {
      let known = Set(knownNames.map(nameKey))
      guard !known.isEmpty else { return false }
      return names.allSatisfy { known.contains(nameKey($0)) }
    }
  }
}
