/// A transit feed that does not exist, written as if it did.
///
/// A demonstration or a measurement needs a feed of a certain size. This one is invented, and resembles that of Berlin:
/// its ids, columns and proportions, names with umlauts, commas and quotes, night trips beyond 24:00:00, stations that
/// sometimes follow their platforms in the file. Every reference is valid.
///
/// ```swift
/// let feed = SampleFeed(stopTimes: 3_000_000, seed: 1)
/// try feed.write(to: "sample")
/// ```
///
/// The same values give the same bytes, on every platform.
public struct SampleFeed: Sendable, Hashable {
  /// How many stop times the feed has.
  ///
  /// The sizes of all other files follow from it.
  public var stopTimes: Int
  /// What everything is drawn from.
  public var seed: UInt64
  /// What ends a line.
  public var lineEnd: LineEnd

  /// Describes a feed; nothing is written yet.
  ///
  /// - Parameters:
  ///   - stopTimes: How many rows `stop_times.txt` has, at least 2.
  ///   - seed: What everything is drawn from.
  ///   - lineEnd: What ends a line.
  public init(stopTimes: Int, seed: UInt64 = 1, lineEnd: LineEnd = .lf) {
    self.stopTimes = stopTimes
    self.seed = seed
    self.lineEnd = lineEnd
  }

  /// What ends a line.
  public enum LineEnd: String, Sendable, Hashable, Codable, CaseIterable {
    /// A line feed.
    case lf
    /// A carriage return and a line feed, as in the feeds that the operators of Berlin publish.
    case crlf
  }

  /// The files that ``write(to:replacesFiles:progress:isCancelled:)`` writes, in that order.
  public static let fileNames: [String] = SampleFeedContent.files.map(\.name)
}
