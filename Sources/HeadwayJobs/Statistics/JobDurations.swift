import Headway

/// A distribution of durations, which takes little space: a histogram with logarithmic buckets.
///
/// Durations are counted in microseconds, from 0 to about 400 days; others count as the nearest of these. Each doubling
/// of the duration has eight buckets. A percentile is the middle of its bucket, so its error is at most 6.25%.
/// Durations below 16 µs are exact to the microsecond.
///
/// The distributions of several periods, queues or processes can be added without a further error.
public struct JobDurations: Hashable, Codable, Sendable {
  /// The number of the first bucket in `counts`.
  private var first = 0
  /// The number of durations in each bucket from the first to the last that is not empty.
  private var counts: [Int] = []

  /// The number of binary digits that number the buckets of a doubling.
  private static let digits = 3
  /// The longest duration, in microseconds.
  private static let longest: Int64 = (1 << 45) - 1
  /// The number of buckets.
  private static let bucketCount = bucket(of: longest) + 1

  /// Creates an empty distribution.
  public init() {}

  /// The number of durations.
  public var count: Int { counts.reduce(0, +) }

  /// Whether there are no durations.
  public var isEmpty: Bool { counts.isEmpty }

  /// Adds a duration.
  ///
  /// - Parameter duration: The duration to add. A negative one counts as zero.
  @_spi(JobStore) public mutating func add(_ duration: Duration) {
    add(microseconds: (StoreTime(microseconds: 0) + duration).microseconds)
  }

  mutating func add(microseconds: Int64) {
    let bucket = Self.bucket(of: min(max(microseconds, 0), Self.longest))
    include(bucket...bucket)
    counts[bucket - first] += 1
  }

  /// Makes the counts contain some buckets; afterward, the first and the last count must not be 0.
  private mutating func include(_ buckets: ClosedRange<Int>) {
    if counts.isEmpty { first = buckets.lowerBound }
    if buckets.lowerBound < first {
      counts.insert(contentsOf: repeatElement(0, count: first - buckets.lowerBound), at: 0)
      first = buckets.lowerBound
    }
    let missing = buckets.upperBound - first + 1 - counts.count
    if missing > 0 { counts += repeatElement(0, count: missing) }
  }

  /// Adds the durations of another distribution.
  ///
  /// - Parameters:
  ///   - sum: The distribution to change.
  ///   - other: The distribution to add.
  public static func += (sum: inout JobDurations, other: JobDurations) {
    guard !other.isEmpty else { return }
    guard !sum.isEmpty else { return sum = other }
    sum.include(other.first...other.first + other.counts.count - 1)
    let offset = other.first - sum.first
    for index in other.counts.indices { sum.counts[offset + index] += other.counts[index] }
  }

  /// Returns the duration that a percentage of the durations does not exceed.
  ///
  /// - Parameter percent: The percentage: 50 for the median, 100 for the longest duration.
  /// - Returns: The duration, with an error of at most 6.25%; nil if there are no durations.
  /// - Precondition: `percent` is from 0 to 100.
  /// - Complexity: O(1): there are about 350 buckets.
  public func percentile(_ percent: Double) -> Duration? {
    require(
      (0...100).contains(percent), "A percentile of durations is computed for \(percent): use a number from 0 to 100."
    )
    let total = count
    guard total > 0 else { return nil }
    let rank = max(1, Int((percent * Double(total) / 100).rounded(.up)))
    var sum = 0
    for (index, count) in counts.enumerated() {
      sum += count
      if sum >= rank { return Self.middle(of: first + index) }
    }
    return Self.middle(of: first + counts.count - 1)
  }

  /// The lower bounds and the numbers of durations of the buckets that are not empty, shortest first.
  public var buckets: [(lowerBound: Duration, upperBound: Duration, count: Int)] {
    counts.enumerated().filter { $0.element > 0 }.map { index, count in
      let (lower, upper) = (Self.lowerBound(of: first + index), Self.lowerBound(of: first + index + 1))
      return (.microseconds(lower), .microseconds(upper), count)
    }
  }

  // MARK: Buckets

  /// The number of the bucket of a duration in microseconds.
  private static func bucket(of value: Int64) -> Int {
    guard value >= 1 << digits else { return Int(value) }
    let shift = Int64.bitWidth - 1 - value.leadingZeroBitCount - digits
    return (shift << digits) + Int(value >> shift)
  }

  /// The shortest duration of a bucket, in microseconds.
  private static func lowerBound(of bucket: Int) -> Int64 {
    guard bucket >= 2 << digits else { return Int64(bucket) }
    let shift = (bucket >> digits) - 1
    return Int64(bucket - (shift << digits)) << shift
  }

  private static func middle(of bucket: Int) -> Duration {
    let (lower, upper) = (lowerBound(of: bucket), lowerBound(of: bucket + 1))
    return .microseconds((lower + upper - 1) / 2)
  }

  // MARK: Stored form

  /// The stored form: numbers of 7 bits per byte; nil for an empty distribution.
  @_spi(JobStore) public var stored: [UInt8]? {
    guard !isEmpty else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(counts.count + 2)
    for number in [first] + counts {
      var rest = UInt64(number)
      while rest > 0x7f {
        bytes.append(UInt8(rest & 0x7f) | 0x80)
        rest >>= 7
      }
      bytes.append(UInt8(rest))
    }
    return bytes
  }

  /// Creates a distribution from its stored form.
  ///
  /// - Parameter stored: The stored form; nil for an empty distribution. Bytes that are not valid are ignored.
  @_spi(JobStore) public init(stored: [UInt8]?) {
    guard let stored else { return }
    var (start, found, number, shift) = (Int?.none, [Int](), 0, 0)
    found.reserveCapacity(stored.count)
    for byte in stored {
      guard shift <= 49 else { return }
      number |= Int(byte & 0x7f) << shift
      shift += 7
      guard byte < 0x80 else { continue }
      if start == nil { start = number } else { found.append(number) }
      (number, shift) = (0, 0)
    }
    guard let start, !found.isEmpty, start + found.count <= Self.bucketCount else { return }
    (first, counts) = (start, found)
  }
}
