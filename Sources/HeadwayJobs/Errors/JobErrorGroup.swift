/// Failed attempts of jobs with the same kind and the same error.
///
/// Two errors are the same if their types are equal, and their texts are equal except for parts that identify
/// something, such as numbers. A store counts the attempts of each group, so a group exists even if no job has failed
/// finally:
///
/// ```swift
/// for group in try await jobs.errorGroups() where group.mute == nil {
///   print("\(group.kind): \(group.text), \(group.count) times")
///   try await jobs.retry(JobFilter(states: [.failed], errorGroup: group.id))
/// }
/// ```
public struct JobErrorGroup: Hashable, Codable, Sendable, Identifiable {
  /// The ID of the group, which depends only on the kind and the error.
  public var id: ID
  /// The kind of the jobs.
  public var kind: JobKind
  /// The name of the error's type; the code of a ``JobEndReason`` for a failure without an error, for example
  /// `crashed`; and ``otherErrors`` for errors without a group of their own.
  public var type: String
  /// The text of the error, with a placeholder instead of each part that can differ between equal errors.
  ///
  /// It has one line and at most ``maxTextLength`` bytes.
  public var text: String
  /// When an attempt first failed with the error.
  public var firstSeenTime: StoreTime
  /// When an attempt last failed with the error.
  public var lastSeenTime: StoreTime
  /// The job whose attempt failed last; of several at the same time, the job with the highest ID.
  public var lastJob: JobID
  /// The number of failed attempts.
  public var count: Int
  /// The number of failed attempts in each of the last ``hourCount`` hours, oldest first.
  ///
  /// The hours begin when the minutes are zero in UTC. The last element is the number of the current hour.
  public var hourlyCounts: [Int]
  /// The number of jobs that wait for their next attempt after this error, up to ``maxJobCount`` + 1.
  public var retryingCount: Int
  /// The number of jobs that have failed with this error, up to ``maxJobCount`` + 1.
  public var failedCount: Int
  /// The note of a person who has muted the group; nil if the group is not muted.
  public var mute: Mute?

  /// The number of hours in ``hourlyCounts``.
  public static let hourCount = 24
  /// The maximum length of ``text``, in bytes of UTF-8.
  public static let maxTextLength = 512
  /// The maximum number of groups of a kind.
  ///
  /// Further errors of the kind are counted in a group with the type ``otherErrors``. If several workers add groups at
  /// the same time, a kind can have a few groups more.
  public static let maxCountPerKind = 50
  /// The number of groups of a store that workers keep when they prune it.
  ///
  /// They delete the groups that were seen longest ago, and muted groups last.
  public static let maxCount = 500
  /// The limit up to which ``retryingCount`` and ``failedCount`` are exact.
  public static let maxJobCount = 1_000
  /// How long a group without a mute is kept after its last failed attempt: 30 days.
  public static let retention = Duration.seconds(30 * 86_400)
  /// The type of the group for errors beyond ``maxCountPerKind``.
  public static let otherErrors = "other errors"

  /// Creates a group.
  ///
  /// - Parameters:
  ///   - id: The ID of the group.
  ///   - kind: The kind of the jobs.
  ///   - type: The name of the error's type.
  ///   - text: The text of the error, with placeholders.
  ///   - firstSeenTime: When an attempt first failed with the error.
  ///   - lastSeenTime: When an attempt last failed with the error.
  ///   - lastJob: The job whose attempt failed last.
  ///   - count: The number of failed attempts.
  ///   - hourlyCounts: The number of failed attempts in each of the last hours, oldest first; zeros by default.
  ///   - retryingCount: The number of jobs that wait for their next attempt.
  ///   - failedCount: The number of jobs that have failed.
  ///   - mute: The note of a person who has muted the group.
  @_spi(JobStore) public init(
    id: ID, kind: JobKind, type: String, text: String, firstSeenTime: StoreTime, lastSeenTime: StoreTime,
    lastJob: JobID, count: Int, hourlyCounts: [Int] = Array(repeating: 0, count: Self.hourCount),
    retryingCount: Int = 0, failedCount: Int = 0, mute: Mute? = nil
  ) {
    self.id = id
    self.kind = kind
    self.type = type
    self.text = text
    self.firstSeenTime = firstSeenTime
    self.lastSeenTime = lastSeenTime
    self.lastJob = lastJob
    self.count = count
    self.hourlyCounts = hourlyCounts
    self.retryingCount = retryingCount
    self.failedCount = failedCount
    self.mute = mute
  }
}

extension JobErrorGroup {
  /// The ID of a group.
  ///
  /// It is the same in all stores, because it is a hash of the kind and the error.
  public struct ID: RawRepresentable, Hashable, Comparable, Codable, Sendable, LosslessStringConvertible {
    /// The number.
    public let rawValue: Int64

    /// Creates an ID from its number.
    ///
    /// - Parameter rawValue: The number that the store contains.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// Creates an ID from its text.
    ///
    /// It is nil if the text is not an ID.
    ///
    /// - Parameter description: The 16 hexadecimal digits of ``description``.
    public init?(_ description: String) {
      guard description.utf8.count == 16, description.allSatisfy(\.isHexDigit),
        let number = UInt64(description, radix: 16)
      else { return nil }
      rawValue = Int64(bitPattern: number)
    }

    /// Decodes an ID.
    ///
    /// - Parameter decoder: The decoder to read from.
    /// - Throws: `DecodingError` if the value is not the text of an ID.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      let text = try container.decode(String.self)
      guard let id = Self(text) else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "‘\(text)’ is not the ID of an error group: use 16 hexadecimal digits.")
      }
      self = id
    }

    /// Encodes the ID as text, because JSON has no exact numbers of this size.
    ///
    /// - Parameter encoder: The encoder to write to.
    /// - Throws: An error of the encoder.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(description)
    }

    /// The number as 16 hexadecimal digits.
    public var description: String {
      let digits = String(UInt64(bitPattern: rawValue), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Compares two numbers.
    ///
    /// - Parameters:
    ///   - left: The ID on the left side of the operator.
    ///   - right: Another ID.
    /// - Returns: Whether the first number is less than the second.
    public static func < (left: ID, right: ID) -> Bool { left.rawValue < right.rawValue }
  }

  /// The note of a person who has muted a group.
  ///
  /// A muted group is still counted, but it does not count for alarms.
  public struct Mute: Hashable, Codable, Sendable {
    /// The reason, for other people; at most ``maxNoteLength`` bytes.
    public var note: String
    /// The person who has muted the group, if known.
    public var author: String?
    /// When the group was muted.
    public var time: StoreTime

    /// The maximum length of ``note``, in bytes of UTF-8.
    public static let maxNoteLength = 1_024

    /// Creates a note.
    ///
    /// - Parameters:
    ///   - note: The reason. It is shortened to ``maxNoteLength`` bytes.
    ///   - author: The person who has muted the group. It is shortened to 512 bytes.
    ///   - time: When the group was muted.
    @_spi(JobStore) public init(note: String, author: String?, time: StoreTime) {
      self.note = note.shortened(to: Self.maxNoteLength)
      self.author = author?.shortened(to: NameLength.name)
      self.time = time
    }
  }
}
