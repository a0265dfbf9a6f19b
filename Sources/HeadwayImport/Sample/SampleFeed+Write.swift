#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension SampleFeed {
  /// Writes the feed into a folder, which is created if need be.
  ///
  /// Other files in the folder are left alone. When it fails or is cancelled, the file being written is
  /// removed: no file that is there is incomplete, and a feed that lacks some is refused by the import.
  ///
  /// Runs on the calling thread and blocks it, for less than a second for 3,000,000 stop times. `isCancelled` is asked
  /// at least once a trip, that is every few microseconds.
  ///
  /// - Parameters:
  ///   - folder: The path of the folder.
  ///   - replacesFiles: Whether files of the same names are replaced; otherwise nothing is written if there is one.
  ///   - progress: Called with the fraction done, growing, at most 100 times, the last time with 1.
  ///   - isCancelled: Asked whether to stop.
  /// - Throws: ``SampleFeedError``, with ``SampleFeedError/Code/cancelled`` if it was stopped.
  /// - Complexity: O(``stopTimes``) time; memory does not depend on it.
  public func write(
    to folder: String,
    replacesFiles: Bool = false,
    progress: (Double) -> Void = { _ in },
    isCancelled: () -> Bool = { false }
  ) throws(SampleFeedError) {
    guard stopTimes >= 2 else { throw SampleFeedError(code: .tooFewStopTimes) }
    if !replacesFiles { try Self.requireNoFiles(in: folder) }
    try Self.createFolder(folder)

    let content = SampleFeedContent(stopTimes: stopTimes, seed: seed)
    var meter = ProgressMeter(total: content.rowCount)
    func advance(_ rows: Int) throws(SampleFeedError) {
      if isCancelled() { throw SampleFeedError(code: .cancelled) }
      if let fraction = meter.advance(by: rows) { progress(fraction) }
    }

    var writer = FeedFileWriter(lineEnd: lineEnd)
    for file in SampleFeedContent.files {
      try advance(0)
      try writer.open(folder + "/" + file.name)
      do {
        try file.write(content, &writer, advance)
        try writer.close()
      } catch {
        writer.discard()
        throw error
      }
    }
    progress(1)
  }

  private static func requireNoFiles(in folder: String) throws(SampleFeedError) {
    for file in SampleFeedContent.files where access(folder + "/" + file.name, F_OK) == 0 {
      throw SampleFeedError(code: .fileExists, path: folder + "/" + file.name)
    }
  }

  /// Creates a folder and those above it that are missing.
  private static func createFolder(_ path: String) throws(SampleFeedError) {
    // "a/b" is created as "a", then "a/b". An empty component (a leading or a doubled slash) needs no folder.
    let bytes = Array(path.utf8)
    for end in 1...max(1, bytes.count) where end >= bytes.count || bytes[end] == UInt8(ascii: "/") {
      let part = String(decoding: bytes.prefix(end), as: UTF8.self)
      // Folders above may exist and be closed to us, which `mkdir` reports before it would report EEXIST; only the
      // whole path must be a folder in the end.
      if mkdir(part, 0o777) != 0, end >= bytes.count, !isFolder(path) {
        throw SampleFeedError(code: .cannotCreateFolder, path: path, systemError: errno)
      }
    }
  }

  private static func isFolder(_ path: String) -> Bool {
    let kept = errno
    defer { errno = kept }
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}

/// Says when the next hundredth has been done.
private struct ProgressMeter {
  let total: Int
  private var done = 0
  private var reported = 0

  init(total: Int) {
    self.total = max(1, total)
  }

  /// The fraction to report, if another hundredth is complete.
  ///
  /// The last is left to the caller, once the files are closed.
  mutating func advance(by rows: Int) -> Double? {
    done += rows
    let percent = min(99, done * 100 / total)
    guard percent > reported else { return nil }
    reported = percent
    return Double(percent) / 100
  }
}
