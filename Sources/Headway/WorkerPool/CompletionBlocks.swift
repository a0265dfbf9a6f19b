import Synchronization

/// The completion blocks that wait for a worker of one class, oldest first.
///
/// A block may take as long as it likes and wait for others, so each is taken by itself, and a worker is on its way as
/// long as any waits: one, who sends for the next when it takes one and others are left. So the pool's lock is taken
/// once for many short blocks, and not once for each.
final class CompletionBlocks: PoolWork {
  private struct State {
    var waiting = FirstInFirstOut<Entry>()
    /// A worker has been sent for and has not come.
    ///
    /// Always so, when the lock is released, while any waits.
    var isWorkerComing = false

    /// Whether a worker is to be sent for now.
    mutating func sendsForWorker() -> Bool {
      guard !waiting.isEmpty, !isWorkerComing else { return false }
      isWorkerComing = true
      return true
    }
  }

  private typealias Entry = (operation: Operation, block: @Sendable () -> Void)

  /// After so many, a worker looks whether others have waited for their turn.
  private static let turn = 32

  private let workerClass: WorkerClass
  private let state = Guarded(State())

  private init(_ workerClass: WorkerClass) { self.workerClass = workerClass }

  private static let normal = CompletionBlocks(.normal)
  private static let utility = CompletionBlocks(.utility)
  private static let background = CompletionBlocks(.background)

  /// Those that workers of a class run.
  static func blocks(of workerClass: WorkerClass) -> CompletionBlocks {
    switch workerClass {
    case .normal: normal
    case .utility: utility
    case .background: background
    }
  }

  /// Has a worker run a completion block.
  ///
  /// - Parameters:
  ///   - block: The block.
  ///   - operation: Its operation, which has ended.
  func submit(_ block: @escaping @Sendable () -> Void, of operation: Operation) {
    let sends = state.withLock { state in
      state.waiting.append((operation, block))
      return state.sendsForWorker()
    }
    if sends { WorkerPool.pool(of: workerClass).submit(self, count: 1) }
  }

  func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool {
    for number in 0..<min(count, Self.turn) {
      let (entry, sends) = state.withLock { state -> (Entry?, Bool) in
        if number == 0 { state.isWorkerComing = false }
        return (state.waiting.popFirst(), state.sendsForWorker())
      }
      if sends { WorkerPool.pool(of: self.workerClass).submit(self, count: 1) }
      guard let entry else { return number > 0 }
      entry.operation.runCompletionBlock(entry.block)
      if Worker.current?.leavesSoon.load(ordering: .relaxed) == true { break }
    }
    return true
  }
}
