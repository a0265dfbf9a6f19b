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
/// **Memory.** A reader uses about 215 KB with the default chunk size, whatever the size of the file, and as much again
/// while you hold a batch. The buffer grows only for a line longer than a chunk, and never beyond
/// ``Options/maxLineLength``. Nothing is read ahead: a chunk is read when its lines are requested, so a slow
/// consumer slows down the reading.
///
/// **Lines.** A line ending is not part of the line. The last line counts with or without a line ending; an empty file
/// has no lines. NUL bytes are part of the line like all others. A UTF-8 byte order mark at the start of the file is
/// omitted unless ``Options/keepsByteOrderMark`` is set.
///
/// **Files.** The path can also be the path of a pipe, a terminal or a device. A reader can be used many times and by
/// many threads at the same time. Each use opens the file and reads it from its start; nothing is opened before. With
/// the trait `Compression`, a file that begins like a gzip, bzip2, xz, Zstandard or LZ4 file is unpacked while it is
/// read, regardless of its name.
///
/// **Following.** A reader that ``init(following:from:mustExist:checkInterval:options:queue:clock:)`` creates does not
/// end at the end of the file: it waits for further lines, like `tail -F`.
///
/// **Errors** are of type ``LineReaderError``. Lines before the position of an error are delivered first.
public struct LineReader: Sendable {
  /// The file to read.
  public let path: String

  /// How to read the file.
  public let options: Options

  /// The queue that runs the reads of the asynchronous forms.
  let queue: OperationQueue

  /// How the file is followed; nil if it is read only to its end.
  let following: Following?

  /// Prepares to read a file.
  ///
  /// The file is not opened.
  ///
  /// - Parameters:
  ///   - path: The path of the file, absolute or relative to the working directory.
  ///   - options: Line endings, the maximum length of a line, and other settings.
  ///   - queue: The queue for the blocking reads of ``lines`` and ``batches``, with one short operation per chunk.
  ///     If nil, a queue that all readers share.
  /// - Precondition: The chunk size is 4 KiB to 1 GiB, the maximum line length 1 byte to 1 GiB.
  public init(path: String, options: Options = Options(), queue: OperationQueue? = nil) {
    Self.requireChunkSize(of: options)
    self.init(path: path, anyChunkSize: options, queue: queue)
  }

  /// Same as the public initializer, but accepts chunk sizes down to one byte, to test what happens at the edges of
  /// chunks.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - options: Options with a chunk size of at least one.
  ///   - queue: The queue that runs the reads.
  package init(path: String, anyChunkSize options: Options, queue: OperationQueue? = nil) {
    self.init(path: path, anyChunkSize: options, queue: queue, following: nil)
  }

  init(path: String, anyChunkSize options: Options, queue: OperationQueue?, following: Following?) {
    require(
      (1...Options.largest).contains(options.maxLineLength),
      "LineReader: a maximum line length of \(options.maxLineLength). Use 1 byte to 1 GiB.")
    require(options.chunkSize > 0, "LineReader: a chunk size of \(options.chunkSize). Use 1 byte or more.")
    self.path = path
    self.options = options
    self.queue = queue ?? Self.sharedQueue
    self.following = following
  }

  static func requireChunkSize(of options: Options) {
    require(
      (4096...Options.largest).contains(options.chunkSize),
      "LineReader: a chunk size of \(options.chunkSize). Use 4 KiB to 1 GiB.")
  }

  /// The queue for readers that were created without one.
  ///
  /// It is unlimited: a read can block for a long time (a FIFO, a network file system), and one reader must not wait
  /// for another.
  package static let sharedQueue = OperationQueue()

  /// Creates a pump that delivers the lines to a task, from the beginning of the file.
  func makePump() -> BatchPump<LineAssembler> {
    BatchPump(LineAssembler(self), queue: queue) { [following] in try await following?.pause() }
  }
}
