extension CSVReader {
  /// How a file is read.
  ///
  /// ```swift
  /// CSVReader(path: path, options: .init(header: .names(["id", "name"]), delimiter: UInt8(ascii: ";")))
  /// ```
  public struct Options: Sendable, Hashable {
    /// The source of the column names.
    public enum Header: Sendable, Hashable {
      /// The first record contains the names.
      case firstRecord
      /// The file does not contain names: the first record is a row.
      ///
      /// The columns are named `column_1`, `column_2` and so on.
      case absent
      /// The file does not contain names: the first record is a row, and these are the names.
      case names([String])
      /// The header is detected from the beginning of the file, as an import does.
      ///
      /// Records before the table, such as a title, are skipped. A header can have several records, or be missing; if
      /// it is missing, the columns are named `column_1`, `column_2` and so on. In case of doubt, the first record is
      /// the header.
      case detected
    }

    /// How to treat a row that has more or fewer fields than there are columns.
    public enum RaggedRowPolicy: Sendable, Hashable {
      /// Reading the row fails with the code `raggedRow`.
      case `throw`
      /// The row is returned or written unchanged.
      ///
      /// When you read such a row, optional values of missing fields are nil, and you can access surplus fields by
      /// their position.
      case keep
    }

    /// The source of the column names.
    public var header: Header

    /// The dialect of the file.
    ///
    /// Nil to detect it from the beginning of the file.
    public var dialect: CSVDialect?

    /// The delimiter, if the rest of the dialect should be detected.
    public var delimiter: UInt8?

    /// The first byte of comment lines, which are skipped.
    ///
    /// Nil if there are none, or if ``dialect`` specifies it.
    public var comment: UInt8?

    /// The encoding of the file.
    ///
    /// Nil to detect it from the beginning of the file.
    ///
    /// A byte order mark or zeros identify UTF-16 or UTF-32. Other text is read as UTF-8, unless nearly all of its
    /// non-ASCII lines are invalid UTF-8. The whole file is examined, or the part of a pipe that has been read. If the
    /// text is not UTF-8, and if the package has the trait `Encodings`, the encoding is detected from the characters:
    /// for example Shift JIS, GB18030, EUC-JP or KOI8-R. Without the trait, and for the languages of Western Europe, it
    /// is Windows-1252.
    public var encoding: CSVTextEncoding?

    /// The number of lines before the header, or before the first row if there is no header.
    ///
    /// If nil, no lines are skipped except a line such as `sep=;`, which Excel writes. With ``Header/detected``, the
    /// detected lines are skipped.
    public var skippedLineCount: Int?

    /// How to treat a row that has more or fewer fields than there are columns.
    public var raggedRowPolicy: RaggedRowPolicy

    /// The maximum number of bytes in a record, from 1 to 2³⁰ − 1.
    ///
    /// A longer record is malformed.
    public var maxRecordLength: Int

    /// Creates options.
    ///
    /// The defaults suit most files.
    ///
    /// If you specify both the dialect and the encoding, and the header does not have to be detected, rows of a pipe
    /// are delivered as soon as they arrive. Otherwise, the reader waits for 64 KB or the end of the file, to detect
    /// its format.
    ///
    /// - Parameters:
    ///   - header: The source of the column names.
    ///   - dialect: The dialect of the file. Nil to detect it.
    ///   - delimiter: The delimiter, if the rest of the dialect should be detected.
    ///   - comment: The first byte of comment lines.
    ///   - encoding: The encoding of the file. Nil to detect it.
    ///   - skippedLineCount: The number of lines before the header.
    ///   - raggedRowPolicy: How to treat a row that has more or fewer fields than there are columns.
    ///   - maxRecordLength: The maximum number of bytes in a record, from 1 to 2³⁰ − 1.
    /// - Precondition: When the file is opened, the dialect's delimiter, quote, and escape differ and are neither CR
    ///   nor LF, and the maximum length is in its range.
    public init(
      header: Header = .firstRecord, dialect: CSVDialect? = nil, delimiter: UInt8? = nil, comment: UInt8? = nil,
      encoding: CSVTextEncoding? = nil, skippedLineCount: Int? = nil, raggedRowPolicy: RaggedRowPolicy = .throw,
      maxRecordLength: Int = 16 << 20
    ) {
      self.header = header
      self.dialect = dialect
      self.delimiter = delimiter
      self.comment = comment
      self.encoding = encoding
      self.skippedLineCount = skippedLineCount
      self.raggedRowPolicy = raggedRowPolicy
      self.maxRecordLength = maxRecordLength
    }
  }
}

extension RecordSource.Options {
  /// Creates the options for the records of a file from the options of a reader.
  init(_ options: CSVReader.Options) {
    self.init()
    dialect = options.dialect
    if let comment = options.comment { dialect?.comment = comment }
    (delimiter, comment, encoding) = (options.delimiter, options.comment, options.encoding)
    switch options.header {
    case .firstRecord: hasHeader = true
    case .absent, .names: hasHeader = false
    case .detected: findsLayout = true
    }
    skippedLineCount = options.skippedLineCount
    doubtsHeaderOfOtherWidth = options.raggedRowPolicy == .throw
    maxRecordLength = options.maxRecordLength
  }
}
