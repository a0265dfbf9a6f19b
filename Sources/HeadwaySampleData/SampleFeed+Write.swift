import HeadwayFiles

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension SampleFeed {
  /// Writes the feed to a folder, which is created if necessary.
  ///
  /// Other files in the folder are left unchanged. If writing fails or is cancelled, the file being written is removed.
  /// All remaining files are complete, and the import rejects a feed that lacks required files.
  ///
  /// This method runs on the calling thread and blocks it, for less than a second for 3,000,000 stop times. It calls
  /// `isCancelled` at least once per trip, that is, every few microseconds.
  ///
  /// - Parameters:
  ///   - folder: The path of the folder.
  ///   - replacesFiles: Whether existing files with the same names are replaced; otherwise, if there is one, nothing is
  ///     written.
  ///   - progress: Called with the increasing fraction that is done, at most 100 times, the last time with 1.
  ///   - isCancelled: Returns whether to stop.
  /// - Throws: ``SampleFeedError``, with ``SampleFeedError/Code/cancelled`` if it was cancelled.
  /// - Complexity: O(``stopTimes``) time; memory use does not depend on it.
  public func write(
    to folder: String,
    replacesFiles: Bool = false,
    progress: (Double) -> Void = { _ in },
    isCancelled: () -> Bool = { false }
  ) throws(SampleFeedError) {
    guard stopTimes >= 2 else { throw SampleFeedError(.tooFewStopTimes) }
    if !replacesFiles { try Self.requireNoFiles(in: folder) }
    do {
      try FileSystem.createFolder(folder)
    } catch {
      throw SampleFeedError(.cannotCreateFolder, path: folder, systemErrorNumber: error.errorNumber)
    }
    // Two processes don't mix their files: the second process waits, and then finds the files of the first one.
    let lock = folder.withPathBytes { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    defer { if lock >= 0 { close(lock) } }
    if lock >= 0 { while flock(lock, LOCK_EX) != 0, errno == EINTR {} }
    if !replacesFiles { try Self.requireNoFiles(in: folder) }

    let content = SampleFeedContent(stopTimes: stopTimes, seed: seed)
    var meter = ProgressMeter(total: content.rowCount)
    func advance(_ rows: Int) throws(SampleFeedError) {
      if isCancelled() { throw SampleFeedError(.cancelled) }
      if let fraction = meter.advance(by: rows) { progress(fraction) }
    }

    var writer = FeedFileWriter(lineEnding: lineEnding)
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
    for file in SampleFeedContent.files where FileSystem.kind(of: folder + "/" + file.name) != nil {
      throw SampleFeedError(.fileExists, path: folder + "/" + file.name)
    }
  }
}

/// Determines when the next hundredth is done.
private struct ProgressMeter {
  let total: Int
  private var done = 0
  private var reported = 0

  init(total: Int) {
    self.total = max(1, total)
  }

  /// The fraction to report, if another hundredth is complete.
  ///
  /// The caller reports the last one, after the files are closed.
  mutating func advance(by rows: Int) -> Double? {
    done += rows
    let percent = min(99, done * 100 / total)
    guard percent > reported else { return nil }
    reported = percent
    return Double(percent) / 100
  }
}
