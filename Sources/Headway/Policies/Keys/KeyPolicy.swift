/// Weights and limits for the operations of a queue that have the same ``OperationPolicy/key``.
///
/// ```swift
/// queue.defaultKeyPolicy = KeyPolicy(maxConcurrentOperationCount: 2)
/// queue.setKeyPolicy(KeyPolicy(weight: 3), forKey: "premium")
/// ```
public struct KeyPolicy: Sendable, Hashable, Codable {
  /// How many operations of the key can start in each turn of the key; 1 by default.
  public var weight: Int
  /// How many operations of the key may run at the same time; nil for no limit other than the queue's.
  public var maxConcurrentOperationCount: Int?
  /// How many operations of the key may start in a period of time; nil for no limit other than the queue's.
  public var rateLimit: RateLimit?
  /// Stops starting operations of the key after several failures; nil for no circuit breaker.
  public var circuitBreaker: CircuitBreaker?

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - weight: How many operations of the key can start in each turn of the key.
  ///   - maxConcurrentOperationCount: How many operations of the key may run at the same time.
  ///   - rateLimit: How many operations of the key may start in a period of time.
  ///   - circuitBreaker: Stops starting operations of the key after several failures.
  public init(
    weight: Int = 1, maxConcurrentOperationCount: Int? = nil, rateLimit: RateLimit? = nil,
    circuitBreaker: CircuitBreaker? = nil
  ) {
    (self.weight, self.maxConcurrentOperationCount) = (weight, maxConcurrentOperationCount)
    (self.rateLimit, self.circuitBreaker) = (rateLimit, circuitBreaker)
  }

  /// Whether operations can wait for the limits.
  var hasLimits: Bool { maxConcurrentOperationCount != nil || needsTime }

  /// Whether the policy depends on time.
  var needsTime: Bool { rateLimit != nil || circuitBreaker != nil }

  /// The reason why the values are not valid, or nil.
  var problem: String? {
    if weight < 1 { return "the weight \(weight): use 1 or more" }
    guard let count = maxConcurrentOperationCount, count < 1 else { return nil }
    return "a maxConcurrentOperationCount of \(count): use 1 or more, or nil for no limit"
  }
}
