/// Whether an operation has a policy, and so a gate, and where it can run.
enum GateKind: UInt8 {
  case none
  /// The operation needs only resources and can run in a batch.
  case ofBatches
  /// The operation has only a key and can run in a batch.
  case key
  case other
}

extension Operation {
  /// Whether the operation has a policy, and so a gate.
  final var hasGate: Bool { gateKind != .none }

  /// Whether the operation is in its `main()`, or in a pause after it.
  ///
  /// A worker that would start it then ends the pause.
  final var hasPause: Bool { gateKind == .other && state.current.phase == .executing }
}
