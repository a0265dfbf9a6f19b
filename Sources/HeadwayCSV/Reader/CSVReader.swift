public import Headway
internal import HeadwayLines

/// Reads a CSV file of any size row by row, in constant memory.
///
/// ```swift
/// try CSVReader(path: "stations.csv").forEachRow { row in
///   print(try row["name"], try row.value("height", as: Double?.self) ?? 0)
/// }
/// ```
///
/// The rows are there in several forms, all of which deliver the same:
///
/// | form | rows as | runs |
/// |---|---|---|
/// | ``rows`` | ``CSVRow`` | the loop in your task, the reading on a queue |
/// | ``rows(of:)`` | a `Decodable` type | the loop in your task, the reading on a queue |
/// | ``forEachRow(_:)-((CSVRow)->Void)`` | ``CSVRow`` | all on your thread |
/// | ``forEachRow(of:_:)``, ``decodeAll(_:)`` | a `Decodable` type | all on your thread |
///
/// **What a file is.** The first record names the columns, unless ``Options/header`` says otherwise. The delimiter, the
/// quote and the encoding are found in the beginning of the file, or given. A byte order mark is left out. Quoted
/// fields may hold delimiters, line ends and doubled quotes; blank lines are skipped; see ``CSVParser`` for the rules.
/// A file without any byte has no columns and no rows.
///
/// **Memory.** About 900 KB whatever the size of the file, and as much as one record where that is longer. Nothing is
/// read ahead: a chunk is read when its rows are asked for. A row that you keep keeps the rows around it, up to 64 KB
/// of the file: keep the values that you need.
///
/// **Files.** Also pipes, terminals and devices, by path; `-` is standard input. With the trait `Compression`, files of
/// gzip, bzip2, xz, Zstandard and LZ4 are unpacked while they are read, and a path may go on into a zip archive. A
/// reader can be used many times and by many threads at once; each use opens the file and reads it from its start.
/// Nothing is opened before. Of a descriptor and of standard input each use goes on behind the last chunk that was
/// read.
///
/// **Errors** are of type ``CSVReaderError``. Rows before the place of an error are delivered first.
public struct CSVReader: Sendable {
  /// Where the bytes come from.
  enum Source: Sendable {
    case path(String)
    case descriptor(Int32)
    case bytes([UInt8])
  }

  /// What errors call the file: its path, or another name for bytes that have none.
  public let path: String

  /// How to read it.
  public let options: Options

  private let source: Source

  /// Where the asynchronous forms read.
  let queue: OperationQueue

  private init(_ source: Source, path: String, options: Options, queue: OperationQueue?) {
    (self.source, self.path, self.options) = (source, path, options)
    self.queue = queue ?? LineReader.sharedQueue
  }

  /// Prepares to read a file.
  ///
  /// Does not open it.
  ///
  /// - Parameters:
  ///   - path: The file's name, absolute or relative to the working directory; `-` for standard input.
  ///   - options: How the file is written, and what becomes of rows of another length.
  ///   - queue: Where ``rows`` and ``rows(of:)`` do their blocking reads, one short operation a chunk. When nil, a
  ///     queue that all readers share.
  public init(path: String, options: Options = Options(), queue: OperationQueue? = nil) {
    self.init(path == "-" ? .descriptor(0) : .path(path), path: path, options: options, queue: queue)
  }

  /// Prepares to read from a descriptor, from the place where that is.
  ///
  /// - Parameters:
  ///   - fileDescriptor: The descriptor, open for reading. It is not closed, and must stay open while it is read.
  ///   - options: How the file is written, and what becomes of rows of another length.
  ///   - queue: Where the asynchronous forms do their blocking reads. When nil, a queue that all readers share.
  public init(fileDescriptor: Int32, options: Options = Options(), queue: OperationQueue? = nil) {
    self.init(.descriptor(fileDescriptor), path: "/dev/fd/\(fileDescriptor)", options: options, queue: queue)
  }

  /// Prepares to read bytes in memory.
  ///
  /// - Parameters:
  ///   - bytes: What a file would hold, in any encoding; not compressed.
  ///   - name: What errors call it.
  ///   - options: How the bytes are written, and what becomes of rows of another length.
  ///   - queue: Where the asynchronous forms parse. When nil, a queue that all readers share.
  public init(bytes: [UInt8], name: String = "bytes", options: Options = Options(), queue: OperationQueue? = nil) {
    self.init(.bytes(bytes), path: name, options: options, queue: queue)
  }

  /// Prepares to read a text.
  ///
  /// - Parameters:
  ///   - text: What a file would hold.
  ///   - name: What errors call it.
  ///   - options: How the text is written, and what becomes of rows of another length. The encoding does not count.
  ///   - queue: Where the asynchronous forms parse. When nil, a queue that all readers share.
  /// - Complexity: O(*n*) in the length of the text.
  public init(text: String, name: String = "text", options: Options = Options(), queue: OperationQueue? = nil) {
    var options = options
    options.encoding = .utf8
    self.init(.bytes(Array(text.utf8)), path: name, options: options, queue: queue)
  }

  /// Opens the file.
  func open() throws(CSVReaderError) -> RecordSource {
    let bytes: any ByteSource =
      switch source {
      case .path(let path): try FileBytes(path: path)
      case .descriptor(let descriptor): FileBytes(descriptor: descriptor, path: path)
      case .bytes(let bytes): MemoryBytes(bytes, path: path)
      }
    return try RecordSource(bytes, RecordSource.Options(options))
  }
}
