import Headway

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
    do {
      try FileSystem.createFolder(folder)
    } catch {
      throw SampleFeedError(code: .cannotCreateFolder, path: folder, systemError: error.errorNumber)
    }

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
    for file in SampleFeedContent.files where FileSystem.kind(of: folder + "/" + file.name) != nil {
      throw SampleFeedError(code: .fileExists, path: folder + "/" + file.name)
    }
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
