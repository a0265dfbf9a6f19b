/// A transit feed that does not exist, but looks real.
///
/// Demonstrations and measurements need a feed of a certain size. This one is invented, and resembles that of Berlin:
/// its ids, columns, and proportions, names with umlauts, commas, and quotes, night trips beyond 24:00:00, and stations
/// that sometimes follow their platforms in the file. Every reference is valid.
///
/// ```swift
/// let feed = SampleFeed(stopTimes: 3_000_000, seed: 1)
/// try feed.write(to: "sample")
/// ```
///
/// The same values produce the same bytes on every platform.
public struct SampleFeed: Sendable, Hashable {
  /// The number of stop times in the feed.
  ///
  /// It determines the sizes of all other files.
  public var stopTimes: Int
  /// The seed of all random choices.
  public var seed: UInt64
  /// The byte sequence that ends each line of the files.
  public var lineEnding: LineEnding

  /// Describes a feed without writing it.
  ///
  /// - Parameters:
  ///   - stopTimes: The number of rows in `stop_times.txt`, at least 2.
  ///   - seed: The seed of all random choices.
  ///   - lineEnding: The line ending of all files.
  public init(stopTimes: Int, seed: UInt64 = 1, lineEnding: LineEnding = .lf) {
    self.stopTimes = stopTimes
    self.seed = seed
    self.lineEnding = lineEnding
  }

  /// The byte sequence that ends a line.
  public enum LineEnding: String, Sendable, Hashable, Codable, CaseIterable {
    /// A line feed.
    case lf
    /// A carriage return and a line feed, as in the feeds of Berlin's operators.
    case crlf
  }

  /// The files that ``write(to:replacesFiles:progress:isCancelled:)`` writes, in this order.
  public static let fileNames: [String] = SampleFeedContent.files.map(\.name)
}
