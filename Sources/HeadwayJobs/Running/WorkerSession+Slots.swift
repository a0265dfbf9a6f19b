import FoundationEssentials
import Headway
import Synchronization

extension WorkerSession {
  // Read once, because Foundation reads files to determine it.
  private static let processorCount = ProcessInfo.processInfo.activeProcessorCount
  /// How soon the slots are read again while other code uses them, because the ends of its operations are not observed.
  private static let slotInterval = Duration.milliseconds(100)

  /// Determines what to send to the store next; nil if there is nothing to send.
  func nextExchange() -> (exchange: JobExchange, lanes: [Int])? {
    endFinishedAttempts()
    let time = clock.elapsed()
    updateQueues(at: time)
    let queues = state.withLock(\.operationQueues).map { queue in
      if queue.isSuspended || queue.isClosed { return SharedSlots.Queue(queue: queue, limit: 0, operationCount: 0) }
      let limit = queue.maxConcurrentOperationCount
      let isUnlimited = limit == OperationQueue.defaultMaxConcurrentOperationCount
      return SharedSlots.Queue(
        queue: queue, limit: isUnlimited ? Self.processorCount : max(0, limit), operationCount: queue.operationCount)
    }
    let uses = state.withLock(\.claimer.uses)
    let (next, mustWait, chunkTime) = SharedSlots.ofProcess.change(queues, from: uses, by: self) { others in
      state.withLock { state in
        for (group, queue) in queues.enumerated() {
          state.claimer.setSlots(queue.limit, besides: queue.operationCount, others[group], group: group)
        }
        let next = state.nextExchange(at: time)
        let uses = state.claimer.uses
        // A time in the past means that nothing is claimed now, for example because the worker is not registered.
        let chunkTime = state.isStopping ? nil : state.claimer.nextChunkTime.flatMap { $0 > time ? $0 : nil }
        return (uses, (next, !state.isStopping && uses.contains(where: \.isWaiting), chunkTime))
      }
    }
    if mustWait { lookAgain() }
    if let chunkTime { ringForChunk(at: chunkTime) }
    return next
  }

  private func lookAgain() {
    guard !looksAgain.exchange(true, ordering: .relaxed) else { return }
    Task {
      try? await clock.sleep(Self.slotInterval)
      looksAgain.store(false, ordering: .relaxed)
      exchangeBell.ring()
    }
  }
}
