import FoundationEssentials
public import Headway

/// Most options of a stored job, which a store keeps in encoded form.
///
/// A store itself reads only ``unique``, ``retention`` and ``limits``. The other options are for workers, for changes
/// of the job's state, and for ``JobFilter``.
public struct JobSettings: Hashable, Codable, Sendable {
  /// The quality of service of the job's operation.
  public var qualityOfService: QualityOfService?
  /// A readable description.
  public var label: String?
  /// Words for finding the job.
  public var tags: [String]?
  /// The time limit of each attempt.
  public var timeout: Duration?
  /// How often and when the job is run again after an error.
  public var retry: RetryPolicy?
  /// The maximum number of times that the job can snooze.
  public var maxSnoozeCount: Int?
  /// The job fails when this many processes have died while they ran it.
  public var maxCrashCount: Int?
  /// The key that the job holds.
  public var unique: UniqueKey?
  /// How long the job is kept after it has ended.
  public var retention: JobRetention?
  /// The limits, each for all jobs with the same key; nil if there are none.
  public var limits: [JobLimit]?
  /// The tick that has added the job, if a schedule did.
  public var tick: JobTick?
  /// The span of the code that has added the job, as its tracer describes it to other processes.
  public var traceContext: [String: String]?

  /// Creates settings without values.
  @_spi(JobStore) public init() {}

  /// Creates the settings from options.
  ///
  /// - Parameter options: The options of a job.
  @_spi(JobStore) public init(_ options: JobOptions) {
    qualityOfService = options.qualityOfService
    label = options.label
    tags = options.tags?.isEmpty == true ? nil : options.tags
    timeout = options.timeout
    retry = options.retry
    maxSnoozeCount = options.maxSnoozeCount
    maxCrashCount = options.maxCrashCount
    unique = options.unique
    retention = options.retention
    limits = options.limits?.isEmpty == true ? nil : options.limits
  }

  /// The stored form; nil for settings without values.
  @_spi(JobStore) public var stored: [UInt8]? { self == JobSettings() ? nil : StoredForm.encode(self) }

  /// Creates settings from their stored form.
  ///
  /// - Parameter stored: The stored form; nil for settings without values.
  /// - Throws: `DecodingError` if the bytes are not valid.
  @_spi(JobStore) public init(stored: [UInt8]?) throws {
    self = try stored.map { try StoredForm.decode(Self.self, $0) } ?? Self()
  }

  /// The retry policy, or the default one.
  var effectiveRetry: RetryPolicy { retry ?? JobOptions.defaultRetry }
}

/// Encodes values that only Headway reads.
enum StoredForm {
  static func encode(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    // The factor of a backoff can be infinite, which JSON has no number for.
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    guard let data = try? encoder.encode(value) else {
      misuse("\(value) can't be stored, because it can't be encoded as JSON. Change the options of the job.")
    }
    return [UInt8](data)
  }

  static func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) throws -> Value {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return try decoder.decode(type, from: Data(bytes))
  }
}
