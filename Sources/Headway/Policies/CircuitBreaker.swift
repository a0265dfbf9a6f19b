/// Stops starting the operations of a key after several failures, until one of them succeeds.
///
/// While the breaker is *closed*, operations start as usual. After ``maxFailureCount`` failures without a success in
/// between, it *opens*: no operation of the key starts. After ``openDuration``, it is *half open*: one operation starts
/// as a probe. If the probe succeeds, the breaker closes. If the probe fails, the breaker opens again.
///
/// A failure no longer counts if it is followed by no other one for ``openDuration``. A breaker that has been half open
/// for that time, without an operation of the key, closes.
///
/// Operations that wait for the breaker hold no thread and no concurrency slot. To limit how long they wait, set their
/// ``OperationPolicy/totalTimeout``.
///
/// A failed attempt of an operation that repeats its function counts as a failure. Cancelled operations do not count,
/// nor do ``RetryableError``s whose ``RetryableError/isRetryable`` is false, because such an error says that the
/// request is wrong, not the service.
public struct CircuitBreaker: Sendable, Hashable, Codable {
  /// Whether operations of a key start.
  public enum State: Sendable, Hashable {
    /// Operations start as usual.
    case closed
    /// No operation starts.
    case open
    /// One operation starts, or runs, as a probe.
    case halfOpen
  }

  /// How many failures without a success in between open the breaker.
  public let maxFailureCount: Int
  /// How long the breaker stays open before the next probe.
  public let openDuration: Duration

  /// Creates a circuit breaker.
  ///
  /// - Parameters:
  ///   - maxFailureCount: How many failures without a success in between open the breaker.
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
/// A state machine without a clock or locks. Times are in nanoseconds of the queue's clock.
struct BreakerState {
  private enum Phase {
    case closed(failureCount: Int)
    case open(until: PolicyTime)
    /// The probe has started.
    case probing
  }

  /// How an operation, or an attempt, ended.
  enum Result {
    case success
    case failure
    /// Says nothing about the service.
    case neither

    /// Creates the result of an operation or an attempt that has failed.
    init(of error: any Error) {
      self = (error as? any RetryableError)?.isRetryable == false ? .neither : .failure
    }
  }

  let breaker: CircuitBreaker
  private var phase = Phase.closed(failureCount: 0)
  private var lastFailureTime = PolicyTime.min

  init(_ breaker: CircuitBreaker) { self.breaker = breaker }

  func state(at now: PolicyTime) -> CircuitBreaker.State {
    switch phase {
    case .closed: .closed
    case .open where isForgettable(at: now): .closed
    case .open(let end): end <= now ? .halfOpen : .open
    case .probing: .halfOpen
    }
  }

  /// Whether an operation may start.
  func mayStart(at now: PolicyTime) -> Bool {
    switch phase {
    case .closed: true
    case .open(let end): end <= now
    case .probing: false
    }
  }

  /// When the next probe may start, if the time decides.
  var nextStart: PolicyTime? { if case .open(let end) = phase { end } else { nil } }

  /// Notes that an operation starts, which it may.
  ///
  /// - Returns: Whether it is the probe.
  mutating func noteStart(at now: PolicyTime) -> Bool {
    if isForgettable(at: now) { phase = .closed(failureCount: 0) }
    // An operation that had its resources and its slot when the breaker opened is no probe.
    guard case .open(let end) = phase, end <= now else { return false }
    phase = .probing
    return true
  }

  /// Notes the end of an operation or an attempt.
  ///
  /// If the breaker is not closed, only the result of the probe matters: the others have started earlier.
  mutating func noteEnd(_ result: Result, isProbe: Bool, at now: PolicyTime) {
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

  private func openEnd(from now: PolicyTime) -> PolicyTime { now.addedClamped(breaker.openDuration.nanoseconds) }

  /// Whether the state is that of a new breaker, or nothing has happened for so long that it no longer counts.
  func isForgettable(at now: PolicyTime) -> Bool {
    switch phase {
    case .closed(let count): count == 0 || openEnd(from: lastFailureTime) <= now
    // No operation was there to be the probe.
    case .open(let end): openEnd(from: end) <= now
    case .probing: false
    }
  }
}
