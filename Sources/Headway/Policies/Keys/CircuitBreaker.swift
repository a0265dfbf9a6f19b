/// After several failures, stops starting the operations of a key until one of them succeeds.
///
/// While the breaker is *closed*, operations start as usual. After ``maxFailureCount`` failures without a success in
/// between, it *opens*: no operation of the key starts. After ``openDuration``, it is *half open*: one operation starts
/// as a probe. If the probe succeeds, the breaker closes. If the probe fails, the breaker opens again.
///
/// Failures are forgotten if no other failure follows within ``openDuration``. A half-open breaker closes if no
/// operation of the key starts within ``openDuration``.
///
/// Operations that wait for the breaker hold no thread and no concurrency slot. To limit how long they wait, set their
/// ``OperationPolicy/totalTimeout``. To make operations fail immediately, check
/// ``OperationQueueProtocol/circuitBreakerState(forKey:)`` before you add them.
///
/// If an operation has a retry policy, each failed attempt counts as a failure. Cancelled operations do not count.
/// Neither do errors that conform to ``RetryableError`` and whose ``RetryableError/isRetryable`` is false: they
/// indicate a problem with the request, not with the service. An operation that exceeds its total timeout does not
/// count either, because it may have waited for most of that time. To detect a service that does not answer, set the
/// ``OperationPolicy/timeout`` of the operations.
public struct CircuitBreaker: Sendable, Hashable, Codable {
  /// Whether operations of a key start.
  public enum State: Sendable, Hashable {
    /// Operations start as usual.
    case closed
    /// No operation starts.
    case open
    /// One operation can start as a probe, or the probe is running.
    case halfOpen
  }

  /// How many failures, without a success in between, open the breaker.
  public let maxFailureCount: Int
  /// How long the breaker stays open before the next probe.
  public let openDuration: Duration

  /// Creates a circuit breaker.
  ///
  /// - Parameters:
  ///   - maxFailureCount: How many failures, without a success in between, open the breaker.
  ///   - openDuration: How long the breaker stays open before the next probe.
  /// - Precondition: `maxFailureCount` is 1 or more, and `openDuration` is positive.
  public init(maxFailureCount: Int = 5, openDuration: Duration = .seconds(30)) {
    (self.maxFailureCount, self.openDuration) = (maxFailureCount, openDuration)
    if let problem { misuse(problem) }
  }

  /// The reason why the values are not valid, or nil.
  private var problem: String? {
    if maxFailureCount < 1 {
      return "A circuit breaker that opens after \(maxFailureCount) failures was created: use 1 or more."
    }
    guard openDuration <= .zero else { return nil }
    return "A circuit breaker that stays open for \(openDuration) was created: use a positive duration."
  }

  private enum CodingKeys: CodingKey { case maxFailureCount, openDuration }

  /// Creates a circuit breaker from its stored form.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: `DecodingError` if the values are not valid.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    maxFailureCount = try container.decode(Int.self, forKey: .maxFailureCount)
    openDuration = try container.decode(Duration.self, forKey: .openDuration)
    if let problem {
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: problem))
    }
  }
}

/// The state of a ``CircuitBreaker``.
///
/// A state machine without a clock or locks. The queue's clock defines the times, in nanoseconds.
struct BreakerState {
  private enum Phase {
    case closed(failureCount: Int)
    case open(until: ClockTime)
    /// The probe has started.
    case probing
  }

  /// How an operation, or an attempt, ended.
  enum Result {
    case success
    case failure
    /// Cancelled, or failed for a reason that is unrelated to the service.
    case neither

    /// Creates the result of an operation or an attempt that has failed.
    init(of error: any Error) {
      let hasWrongRequest = (error as? any RetryableError)?.isRetryable == false
      // The operation may have waited for most of that time.
      let hasWaited = (error as? TimeLimitError)?.code == .totalTimeout
      self = hasWrongRequest || hasWaited ? .neither : .failure
    }
  }

  let breaker: CircuitBreaker
  private var phase = Phase.closed(failureCount: 0)
  private var lastFailureTime = ClockTime.min

  init(_ breaker: CircuitBreaker) { self.breaker = breaker }

  func state(at now: ClockTime) -> CircuitBreaker.State {
    switch phase {
    case .closed: .closed
    case .open where isForgettable(at: now): .closed
    case .open(let end): end <= now ? .halfOpen : .open
    case .probing: .halfOpen
    }
  }

  /// Whether an operation may start.
  func mayStart(at now: ClockTime) -> Bool {
    switch phase {
    case .closed: true
    case .open(let end): end <= now
    case .probing: false
    }
  }

  /// Whether the probe runs.
  var isProbing: Bool { if case .probing = phase { true } else { false } }

  /// When the next probe may start, if that depends only on time.
  var nextStart: ClockTime? { if case .open(let end) = phase { end } else { nil } }

  /// Notes that an operation starts.
  ///
  /// - Returns: Whether the operation is the probe.
  mutating func noteStart(at now: ClockTime) -> Bool {
    if isForgettable(at: now) { phase = .closed(failureCount: 0) }
    // If an operation had its resources and its slot when the breaker opened, it is not a probe.
    guard case .open(let end) = phase, end <= now else { return false }
    phase = .probing
    return true
  }

  /// Notes the end of an operation or an attempt.
  ///
  /// If the breaker is not closed, only the result of the probe counts: the other operations started earlier.
  mutating func noteEnd(_ result: Result, isProbe: Bool, at now: ClockTime) {
    if isForgettable(at: now) { phase = .closed(failureCount: 0) }
    if result == .failure { lastFailureTime = now }
    switch (phase, result) {
    case (.closed, .success): phase = .closed(failureCount: 0)
    case (.closed(let count), .failure):
      let isFull = count + 1 >= breaker.maxFailureCount
      phase = isFull ? .open(until: openEnd(from: now)) : .closed(failureCount: count + 1)
    case (.probing, .success) where isProbe: phase = .closed(failureCount: 0)
    case (.probing, .failure) where isProbe: phase = .open(until: openEnd(from: now))
    // The next operation is the probe.
    case (.probing, .neither) where isProbe: phase = .open(until: now)
    default: break
    }
  }

  private func openEnd(from now: ClockTime) -> ClockTime { now.addedClamped(breaker.openDuration.nanoseconds) }

  /// Whether a new breaker would behave in the same way, because earlier failures no longer count.
  func isForgettable(at now: ClockTime) -> Bool {
    switch phase {
    case .closed(let count): count == 0 || openEnd(from: lastFailureTime) <= now
    // No operation has started as the probe.
    case .open(let end): openEnd(from: end) <= now
    case .probing: false
    }
  }
}
