/// One kind of work, written once for all rivals.
struct Workload: Sendable {
  let name: String
  /// Runs the workload with a rival at a given size.
  ///
  /// Nil if the rival does not support it.
  let measure: @Sendable (_ rival: any Rival, _ count: Int) -> Report?

  static let all: [Workload] =
    [
      .independent, .chain, .grid, .deepGraph, .wideGraph, .mix, .oneOperation, .oneAfterRest, .sleepers,
      .processorBound, .waitingMemory, .dependentMemory, .growth, .besideWaiting, .oneAtATime, .inOrder, .pipeline,
      .cancellation, .manyQueues, .interactiveLatency, .fairness, .holdUp, .soak, .subclass, .asynchronous, .withName,
      .withCompletionBlock, .task, .suspendingTask, .map, .stream, .blockingCalls, .fan, .keyPathObserved,
      .eventsObserved, .progressObserved, .subclassMemory, .arrivals,
      .traceEmpty, .traceShort, .traceOff, .snapshotDelay, .exclusiveName, .thousandNames, .thousandKeys, .rateLimited,
      .delayMemory, .delays,
    ] + reusableGraphs
}
