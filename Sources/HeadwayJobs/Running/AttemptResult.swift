import Synchronization

/// Holds the encoded result of an attempt from when its function returns until its operation has finished.
final class AttemptResult: Sendable {
  private let payload = Mutex<JobPayload?>(nil)
  private let returned = Atomic(false)

  /// Encodes a result, if its type is encodable.
  func keep(_ output: some Sendable) throws {
    let encoded = try JobPayload.result(output)
    payload.withLock { $0 = encoded }
    returned.store(true, ordering: .releasing)
  }

  /// Whether the job's function has returned.
  var hasReturned: Bool { returned.load(ordering: .acquiring) }

  var value: JobPayload? { payload.withLock { $0 } }
}

extension JobPayload {
  private static let maxResultSize = 1_024 * 1_024

  /// Encodes the result of a job.
  ///
  /// - Returns: The encoded result; nil if its type is not encodable.
  package static func result(_ output: some Sendable) throws -> JobPayload? {
    guard let encodable = output as? any Encodable else { return nil }
    let encoded = try JobPayload(encoding: encodable)
    guard encoded.bytes.count <= maxResultSize else {
      throw JobError(
        .payloadTooLarge, "A result has \(encoded.bytes.count) bytes, but at most \(maxResultSize) can be stored.")
    }
    return encoded
  }
}
