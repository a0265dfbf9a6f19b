/// How far an operation is on its one-way road.
enum OperationPhase: UInt64 {
  /// Not started: it waits for dependencies, for its queue, or for somebody to call `start()`.
  case pending = 0
  /// Its queue has taken it and is about to call `start()`, or has called a `start()` that has not reported yet.
  case starting = 1
  /// Its work runs.
  case executing = 2
  /// It has ended. Nothing leads out.
  case finished = 3
}
