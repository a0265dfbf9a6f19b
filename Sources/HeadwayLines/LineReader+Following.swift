public import Headway

extension LineReader {
  /// Where a reader that follows a file begins.
  public enum StartPosition: Hashable, Sendable {
    /// At the beginning of the file.
    case beginning
    /// After the last line that is complete when the file is opened.
    ///
    /// A line that is still being written at that time is delivered when it is complete.
    case end
    /// A number of lines before ``end``.
    ///
    /// If the file has fewer lines, reading begins at its beginning. The number must not be negative.
    case lastLines(Int)
  }

  /// Prepares to follow a file: to read its lines, and then the lines that are added to it, like `tail -F`.
  ///
  /// ```swift
  /// for try await line in LineReader(following: "/var/log/syslog", from: .end).lines where line.contains("error") {
  ///   print(line)
  /// }
  /// ```
  ///
  /// Nothing is opened before the first line is requested. The reader reads the file to its end and then checks at a
  /// fixed interval whether it has changed. These checks also find changes that other machines make in a network file
  /// system. Between two checks, the task is suspended and no thread is blocked. Nothing is read before it is
  /// requested, so a slow consumer slows down the reading.
  ///
  /// - **Last line.** A line is delivered when its line ending has been written. With the line ending `any`, a line
  ///   that ends with CR is delivered when the next byte has been written, because LF might follow.
  /// - **Rotation.** If another file appears at the path, the reader reads the old file to its end. It checks the old
  ///   file once more, because its writer might not have opened the new file yet, and then reads the new file from its
  ///   beginning. As long as there is no file at the path, the old one is followed. If there is a symbolic link at the
  ///   path, the link can be changed to point to another file.
  /// - **Truncation.** If the file becomes shorter than the part that has been read, the reader starts again at its
  ///   beginning. If it has grown beyond that part again by the next check, the truncation is not detected, and reading
  ///   continues at the old position. Therefore, rotation by renaming is safer than `copytruncate`.
  /// - **Incomplete line.** If the file is replaced or truncated while its last line has no line ending, that line is
  ///   delivered as it is.
  /// - **Positions.** The number and offset of a line refer to the current file. They begin again at one and zero with
  ///   each new file, and after a truncation. Lines before the start position are not counted, but their bytes are.
  /// - **Limits.** Only regular files can be followed, and compressed files are not unpacked. A file that appears and
  ///   is replaced between two checks is not read.
  ///
  /// ``lines`` and ``batches`` end when the task is cancelled, or with an error. Between two checks, no operation is in
  /// the queue, so cancelling the queue's operations does not end these sequences. The operation of
  /// ``enumerateLines(on:eachLine:completion:)`` ends when it is cancelled. Until then, it occupies a concurrency slot
  /// of its queue, but holds no thread between two checks. The forms that run on the calling thread are not available,
  /// because they could not be cancelled.
  ///
  /// If a new file can't be opened at two checks in a row for a reason other than that it is missing, reading ends with
  /// a ``LineReaderError``.
  ///
  /// - Parameters:
  ///   - path: The path of the file, absolute or relative to the working directory.
  ///   - start: The position where reading begins in the first file. A file that appears later is always read from its
  ///     beginning.
  ///   - mustExist: Whether reading fails if there is no file at the path when reading begins. If false, the reader
  ///     waits for the file.
  ///   - checkInterval: The time between two checks when there are no new lines.
  ///   - options: Line endings, the maximum length of a line, and other settings.
  ///   - queue: The queue for the blocking reads of ``lines`` and ``batches``, with one short operation per chunk and
  ///     per check. If nil, a queue that all readers share.
  ///   - clock: The clock that measures the interval, for example a clock that a test advances.
  /// - Precondition: The interval is greater than zero, and the number of last lines is not negative. The chunk size is
  ///   from 4 KiB to 1 GiB, and the maximum line length is from 1 byte to 1 GiB.
  public init(
    following path: String, from start: StartPosition = .beginning, mustExist: Bool = true,
    checkInterval: Duration = .milliseconds(250), options: Options = Options(), queue: OperationQueue? = nil,
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    Self.requireChunkSize(of: options)
    self.init(
      path: path, anyChunkSize: options, queue: queue,
      following: Following(start: start, mustExist: mustExist, checkInterval: checkInterval, clock: clock))
  }

  /// How a file is followed.
  struct Following: Sendable {
    let start: StartPosition
    let mustExist: Bool
    private let checkInterval: Duration
    private let clock: any Clock<Duration>

    init(start: StartPosition, mustExist: Bool, checkInterval: Duration, clock: any Clock<Duration>) {
      require(
        checkInterval > .zero, "LineReader: the check interval is \(checkInterval). It must be greater than zero.")
      if case .lastLines(let count) = start {
        require(count >= 0, "LineReader: the last \(count) lines. Use zero or more.")
      }
      (self.start, self.mustExist, self.checkInterval, self.clock) = (start, mustExist, checkInterval, clock)
    }

    /// Waits until the next check.
    ///
    /// - Throws: `CancellationError`.
    func pause() async throws { try await clock.sleepAtMostCentury(for: checkInterval) }
  }
}
