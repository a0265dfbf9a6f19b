public import Headway

/// Reads a file of any size line by line, in constant memory.
///
/// ```swift
/// let reader = LineReader(path: "/var/log/syslog")
/// for try await line in reader.lines where line.contains("error") {
///   print(line)
/// }
/// ```
///
/// There are four forms, which deliver the same lines:
///
/// | form | lines as | runs |
/// |---|---|---|
/// | ``lines`` | `String` | the loop in your task, the reading on a queue |
/// | ``batches`` | bytes, many at a time | the loop in your task, the reading on a queue |
/// | ``enumerateLines(on:eachLine:completion:)`` | bytes or `String` | all on a queue |
/// | ``forEachLine(_:)-((LineReader.Line)->Void)``, ``forEachBatch(_:)`` | bytes or `String` | all on your thread |
///
/// **Memory.** About 215 KB with the default chunk size, and as much again while you hold a batch, whatever the size of
/// the file. Only a line longer than a chunk makes the buffer grow, and never beyond ``Options/maximumLineLength``.
/// Nothing is read ahead: a chunk is read when its lines are asked for, so a slow consumer slows the reading down.
///
/// **Lines.** A line end is not part of the line. The last line counts with or without one; an empty file has no lines.
/// NUL bytes are part of the line like all others. A UTF-8 byte order mark at the start of the file is left out unless
/// ``Options/keepsByteOrderMark`` is set.
///
/// **Files.** Also pipes, terminals and devices, by path. A reader can be used many times and by many threads at once;
/// each use opens the file and reads it from its start. Nothing is opened before. With the trait `Compression`, a file
/// that begins as one of gzip, bzip2, xz, Zstandard or LZ4 is unpacked while it is read, whatever its name is.
///
/// **Errors** are of type ``LineReaderError``. Lines before the place of an error are delivered first.
public struct LineReader: Sendable {
  /// The file to read.
  public let path: String

  /// How to read it.
  public let options: Options

  /// Where the asynchronous forms read.
  let queue: OperationQueue

  /// Prepares to read a file.
  ///
  /// Does not open it.
  ///
  /// - Parameters:
  ///   - path: The file's name, absolute or relative to the working directory.
  ///   - options: What ends a line, how long one may be, and so on.
  ///   - queue: Where ``lines`` and ``batches`` do their blocking reads, one short operation a chunk. When nil, a queue
  ///     that all readers share.
  /// - Precondition: The chunk size is 4 KiB to 1 GiB, the maximum line length 1 byte to 1 GiB.
  public init(path: String, options: Options = Options(), queue: OperationQueue? = nil) {
    precondition(
      (4096...Options.largest).contains(options.chunkSize),
      "LineReader: a chunk size of \(options.chunkSize). Use 4 KiB to 1 GiB.")
    self.init(path: path, anyChunkSize: options, queue: queue)
  }

  /// Like the public initialiser, for chunks as small as one byte: for tests of what happens at their edges.
  ///
  /// - Parameters:
  ///   - path: The file's name.
  ///   - options: With a chunk size of at least one.
  ///   - queue: Where to read.
  package init(path: String, anyChunkSize options: Options, queue: OperationQueue? = nil) {
    precondition(
      (1...Options.largest).contains(options.maximumLineLength),
      "LineReader: a maximum line length of \(options.maximumLineLength). Use 1 byte to 1 GiB.")
    precondition(options.chunkSize > 0)
    self.path = path
    self.options = options
    self.queue = queue ?? Self.sharedQueue
  }

  /// Where readers read that were given no queue.
  ///
  /// Unlimited: a read may block for long (a FIFO, a network file system), and one reader must not wait for another.
  package static let sharedQueue = OperationQueue()

  /// Brings the lines to a task, from the beginning of the file.
  func makePump() -> BatchPump<LineAssembler> {
    BatchPump(LineAssembler(path: path, options: options), queue: queue)
  }
}
