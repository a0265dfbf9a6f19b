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
/// There are several forms, which deliver the same rows:
///
/// | form | rows as | runs |
/// |---|---|---|
/// | ``rows`` | ``CSVRow`` | the loop in your task, the reading on a queue |
/// | ``rows(as:)`` | a `Decodable` type | the loop in your task, the reading on a queue |
/// | ``forEachRow(_:)-((CSVRow)->Void)`` | ``CSVRow`` | all on your thread |
/// | ``forEachRow(as:_:)``, ``decodeAll(as:)`` | a `Decodable` type | all on your thread |
///
/// **Format.** The first record names the columns, unless ``Options/header`` specifies otherwise. The delimiter, the
/// quote and the encoding are detected from the beginning of the file, unless you specify them. A byte order mark is
/// removed. Quoted fields can contain delimiters, line endings and doubled quotes. Blank lines are skipped. See
/// ``CSVParser`` for the rules. A file without any byte has no columns and no rows.
///
/// **Memory.** A reader uses about 900 KB regardless of the size of the file, or as much as one record needs if that is
/// more. Nothing is read ahead: a chunk is read when its rows are requested. A row that you keep also keeps the rows
/// around it, up to 64 KB of the file, so keep the values that you need instead.
///
/// **Files.** The path can also be the path of a pipe, a terminal or a device; `-` is standard input. With the trait
/// `Compression`, gzip, bzip2, xz, Zstandard and LZ4 files are unpacked while they are read, and a path can continue
/// into a zip archive. A reader can be used many times and by many threads at the same time. Each use opens the file
/// and reads it from its start; nothing is opened before. For a descriptor and for standard input, each use continues
/// after the last chunk that was read.
///
/// **Errors** are of type ``CSVReaderError``. Rows before the position of an error are delivered first.
public struct CSVReader: Sendable {
  /// The source of the bytes.
  enum Source: Sendable {
    case path(String)
    case descriptor(Int32)
    case bytes([UInt8])
  }

  /// The file's name in errors: its path, or another name for bytes that have no path.
  public let path: String

  /// How to read the file.
  public let options: Options

  private let source: Source

  /// The queue that runs the reads of the asynchronous forms.
  let queue: OperationQueue

  private init(_ source: Source, path: String, options: Options, queue: OperationQueue?) {
    (self.source, self.path, self.options) = (source, path, options)
    self.queue = queue ?? LineReader.sharedQueue
  }

  /// Prepares to read a file.
  ///
  /// The file is not opened.
  ///
  /// - Parameters:
  ///   - path: The path of the file, absolute or relative to the working directory. `-` is standard input.
  ///   - options: The format of the file, and how ragged rows are treated.
  ///   - queue: The queue that runs the blocking reads of ``rows`` and ``rows(as:)``, in one short operation per chunk.
  ///     If nil, a queue that all readers share.
  public init(path: String, options: Options = Options(), queue: OperationQueue? = nil) {
    self.init(path == "-" ? .descriptor(0) : .path(path), path: path, options: options, queue: queue)
  }

  /// Prepares to read from a descriptor, starting at its current position.
  ///
  /// - Parameters:
  ///   - fileDescriptor: The descriptor, open for reading. It is not closed and must stay open while it is read.
  ///   - options: The format of the file, and how ragged rows are treated.
  ///   - queue: The queue that runs the blocking reads of the asynchronous forms. If nil, a queue that all readers
  ///     share.
  public init(fileDescriptor: Int32, options: Options = Options(), queue: OperationQueue? = nil) {
    self.init(.descriptor(fileDescriptor), path: "/dev/fd/\(fileDescriptor)", options: options, queue: queue)
  }

  /// Prepares to read bytes in memory.
  ///
  /// - Parameters:
  ///   - bytes: The content of a file, in any encoding. It must not be compressed.
  ///   - name: The name of the bytes in errors.
  ///   - options: The format of the bytes, and how ragged rows are treated.
  ///   - queue: The queue that the asynchronous forms parse on. If nil, a queue that all readers share.
  public init(bytes: [UInt8], name: String = "bytes", options: Options = Options(), queue: OperationQueue? = nil) {
    self.init(.bytes(bytes), path: name, options: options, queue: queue)
  }

  /// Prepares to read a string.
  ///
  /// - Parameters:
  ///   - text: The content of a file.
  ///   - name: The name of the text in errors.
  ///   - options: The format of the text, and how ragged rows are treated. The encoding is ignored.
  ///   - queue: The queue that the asynchronous forms parse on. If nil, a queue that all readers share.
  /// - Complexity: O(*n*) in the length of the text.
  public init(text: String, name: String = "text", options: Options = Options(), queue: OperationQueue? = nil) {
    var options = options
    options.encoding = .utf8
    self.init(.bytes(Array(text.utf8)), path: name, options: options, queue: queue)
  }

  /// Opens the file.
  func open() throws(CSVReaderError) -> any ByteSource {
    switch source {
    case .path(let path): try FileBytes(path: path)
    case .descriptor(let descriptor): FileBytes(descriptor: descriptor, path: path)
    case .bytes(let bytes): MemoryBytes(bytes, path: path)
    }
  }
}
