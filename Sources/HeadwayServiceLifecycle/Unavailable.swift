#if !Observability
public import Headway

// Without the trait Observability, the compiler would report these names as “cannot find in scope”. The parameters have
// the labels of the real declarations, and types that accept the same values.

/// Available with the trait `Observability`.
@available(
  *, unavailable, message: "Enable the trait Observability: .package(url: …, from: …, traits: [\"Observability\"])"
)
public struct QueueService: Sendable {
  /// Available with the trait `Observability`.
  public init(
    _ queue: OperationQueue, gracePeriod: Duration = .seconds(20), cancellationPeriod: Duration = .seconds(1),
    logger: Any? = nil, clock: any Clock<Duration> = ContinuousClock(),
    onDrain: (@Sendable (_ drained: DrainReport, _ left: [String]) -> Void)? = nil
  ) {}

  /// Available with the trait `Observability`.
  public func run() async throws {}
}
#endif
