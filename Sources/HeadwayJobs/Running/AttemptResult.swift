import Synchronization

/// Holds the encoded result of an attempt from when its function returns until its operation has finished.
final class AttemptResult: Sendable {
  private let payload = Mutex<JobPayload?>(nil)
  private let returned = Atomic(false)
  private let failure = Mutex<(any Error)?>(nil)

  /// Keeps an encoded result; nil if its type is not encodable.
  func keep(_ result: JobPayload?) {
    payload.withLock { $0 = result }
    returned.store(true, ordering: .releasing)
  }

  /// Stores the error of one of several jobs that run together.
  func fail(_ error: any Error) { failure.withLock { $0 = error } }

  /// The error of one of several jobs that run together.
  var error: (any Error)? { failure.withLock { $0 } }

  /// Whether the job's function has returned.
  var hasReturned: Bool { returned.load(ordering: .acquiring) }

  var value: JobPayload? { payload.withLock { $0 } }
}

extension JobContext {
  /// Encodes the result of the job.
  ///
  /// - Returns: The encoded result; nil if its type is not encodable.
  @_spi(JobStore) public func encodedResult(_ output: some Sendable) throws -> JobPayload? {
    guard let encodable = output as? any Encodable else { return nil }
    return try encoded(encodable, as: "The result")
  }

  /// Encodes a value to store with the job and checks the value's size.
  func encoded(_ value: some Encodable, as subject: @autoclosure () -> String) throws -> JobPayload {
    let payload: JobPayload
    do {
      payload = try JobPayload(encoding: value)
    } catch {
      throw JobError(
        .unencodablePayload, "\(subject()) of job \(id) can't be encoded: \(error)", underlyingError: error)
    }
    let (size, limit) = (payload.bytes.count, jobs.store.maxResultSize)
    guard size <= limit else {
      throw JobError(
        .payloadTooLarge,
        "\(subject()) of job \(id) has \(size) bytes, but the store accepts \(limit). Store the data elsewhere, and "
          + "return its location, or open the store with a larger maxResultSize.")
    }
    return payload
  }
}
