#if !Observability
public import Headway

// Without the trait Observability, the compiler would report these names as “cannot find in scope”. The parameters have
// the labels of the real declarations, and types that accept the same values.

extension OperationQueueProtocol {
  /// Available with the trait `Observability`.
  @available(
    *, unavailable, message: "Enable the trait Observability: .package(url: …, from: …, traits: [\"Observability\"])"
  )
  public func recordSpans(with tracer: Any? = nil) {}
}
#endif
