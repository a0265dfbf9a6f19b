extension CSVReader {
  /// How a file is read.
  ///
  /// ```swift
  /// CSVReader(path: path, options: .init(header: .names(["id", "name"]), delimiter: UInt8(ascii: ";")))
  /// ```
  public struct Options: Sendable, Hashable {
    /// Where the names of the columns come from.
    public enum Header: Sendable, Hashable {
      /// The first record has them.
      case firstRecord
      /// The file has none: the first record is a row.
      ///
      /// The columns are called `column_1`, `column_2` and so on.
      case absent
      /// The file has none: the first record is a row, and these are the names.
      case names([String])
      /// Found in the beginning of the file, as an import does.
      ///
      /// What comes before the table, such as a title, is skipped. A header may have several records, or be missing:
      /// then the columns are called `column_1`, `column_2` and so on. In case of doubt the first record is the header.
      case found
    }

    /// What becomes of a row that has more or fewer fields than there are columns.
    public enum RaggedRows: Sendable, Hashable {
      /// It is an error with the code `raggedRow`.
      case report
      /// It is returned or written as it is.
      ///
      /// In a row that is read, optional values of missing fields are nil; surplus fields are found by their position.
      case keep
    }

    /// Where the names of the columns come from.
    public var header: Header

    /// How the file is written; nil to find that in its beginning.
    public var dialect: CSVDialect?

    /// The delimiter, where the rest of the dialect is to be found.
    public var delimiter: UInt8?

    /// The first byte of lines that are comments, which are skipped; nil if there are none, or ``dialect`` says it.
    public var comment: UInt8?

    /// The encoding of the file; nil to find it in its beginning.
    ///
    /// A byte order mark or zeros show UTF-16 or UTF-32. Other text is read as UTF-8, unless nearly all of its
    /// non-ASCII lines are invalid UTF-8, in the whole file, or in the part of a pipe that has been read. In that case,
    /// the encoding is detected from the characters if the package has the trait `Encodings`: for example Shift JIS,
    /// GB18030, EUC-JP or KOI8-R. Otherwise, and for the languages of Western Europe, it is Windows-1252.
    public var encoding: TextEncoding?

    /// How many lines come before the header, or before the first row if there is no header.
    ///
    /// When nil, none, but a line `sep=;` as Excel writes it; with ``Header/found``, those that are found.
    public var skippedLines: Int?

    /// What becomes of a row that has more or fewer fields than there are columns.
    public var raggedRows: RaggedRows

    /// The largest number of bytes in a record, from 1 to 2³⁰ − 1: a longer one is malformed.
    public var maximumRecordLength: Int

    /// Creates options; the defaults suit most files.
    ///
    /// Where both the dialect and the encoding are given, and the header is not to be found, rows of a pipe are handed
    /// out as soon as they come. Otherwise the reader waits for 64 KB, or the end, to see what the file is like.
    ///
    /// - Parameters:
    ///   - header: Where the names of the columns come from.
    ///   - dialect: How the file is written; nil to find that.
    ///   - delimiter: The delimiter, where the rest of the dialect is to be found.
    ///   - comment: The first byte of lines that are comments.
    ///   - encoding: The encoding of the file; nil to find it.
    ///   - skippedLines: How many lines come before the header.
    ///   - raggedRows: What becomes of a row that has more or fewer fields than there are columns.
    ///   - maximumRecordLength: The largest number of bytes in a record.
    /// - Precondition: When the file is opened, the dialect's delimiter, quote and escape differ and are neither CR nor
    ///   LF, and the maximum length is in its range.
    public init(
      header: Header = .firstRecord, dialect: CSVDialect? = nil, delimiter: UInt8? = nil, comment: UInt8? = nil,
      encoding: TextEncoding? = nil, skippedLines: Int? = nil, raggedRows: RaggedRows = .report,
      maximumRecordLength: Int = 16 << 20
    ) {
      self.header = header
      self.dialect = dialect
      self.delimiter = delimiter
      self.comment = comment
      self.encoding = encoding
      self.skippedLines = skippedLines
      self.raggedRows = raggedRows
      self.maximumRecordLength = maximumRecordLength
    }
  }
}

extension RecordSource.Options {
  /// What a reader's options say of a file.
  init(_ options: CSVReader.Options) {
    self.init()
    dialect = options.dialect
    if let comment = options.comment { dialect?.comment = comment }
    (delimiter, comment, encoding) = (options.delimiter, options.comment, options.encoding)
    switch options.header {
    case .firstRecord: hasHeader = true
    case .absent, .names: hasHeader = false
    case .found: findsLayout = true
    }
    skippedLines = options.skippedLines
    doubtsHeaderOfOtherWidth = options.raggedRows == .report
    maximumRecordLength = options.maximumRecordLength
  }
}
