/// The phases of an operation, in the only possible order.
enum OperationPhase: UInt64 {
  /// Not started: it waits for its dependencies, for its queue, or for a call of `start()`.
  case pending = 0
  /// Its queue has claimed it and is about to call `start()` or has called a `start()` that has not reported yet.
  case starting = 1
  /// Its work runs.
  case executing = 2
  /// It has ended.
  ///
  /// No transition leaves this phase.
  case finished = 3
}
