// Blocks, and which objects are kept.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

func completionBlockReleased() -> String {
  final class Token {}
  weak var weakToken: Token?
  let operation = BlockOperation {}
  do {
    let token = Shared(Token())
    weakToken = token.value
    operation.completionBlock = { _ = token.value }
  }
  OperationQueue().addOperations([operation], waitUntilFinished: true)
  let released = becomesTrue(within: 1) { weakToken == nil }
  return released ? "released" : "kept after the end: completionBlock is nil \(operation.completionBlock == nil)"
}

/// Returns whether the completion block of an operation has run when a blocking wait for the operation returns.
func completionBlockAfterWaiting() -> String {
  final class Calls: @unchecked Sendable {
    private let lock = NSLock()
    private var own = 0
    var count: Int { lock.withLock { own } }
    func add() { lock.withLock { own += 1 } }
  }
  let (queue, rounds) = (OperationQueue(), 2000)
  var lateCount = 0
  for round in 0..<rounds {
    let calls = Calls()
    let operation = BlockOperation { if round.isMultiple(of: 2) { Thread.sleep(forTimeInterval: 0.0005) } }
    operation.completionBlock = { calls.add() }
    if round < rounds / 2 {
      queue.addOperations([operation], waitUntilFinished: true)
    } else {
      queue.addOperation(operation)
      queue.waitUntilAllOperationsAreFinished()
    }
    if calls.count == 0 { lateCount += 1 }
  }
  return String(format: "late in %.1f %% of the runs", 100 * Double(lateCount) / Double(rounds))
}

func completionBlockCycle() -> String {
  weak var weakOperation: Operation?
  do {
    let operation = BlockOperation {}
    weakOperation = operation
    operation.completionBlock = { _ = operation.isFinished }
    OperationQueue().addOperations([operation], waitUntilFinished: true)
  }
  return becomesTrue(within: 1) { weakOperation == nil } ? "the operation was freed" : "the operation is never freed"
}

func executionBlockReleased() -> String {
  final class Token {}
  weak var weakToken: Token?
  let operation: BlockOperation
  do {
    let token = Shared(Token())
    weakToken = token.value
    operation = BlockOperation { _ = token.value }
  }
  OperationQueue().addOperations([operation], waitUntilFinished: true)
  let released = becomesTrue(within: 1) { weakToken == nil }
  return "\(released ? "released" : "kept") after the end: executionBlocks \(operation.executionBlocks.count)"
}

func blocksConcurrent() -> String {
  let operation = BlockOperation { usleep(200_000) }
  for _ in 0..<3 { operation.addExecutionBlock { usleep(200_000) } }
  let seconds = secondsTaken { OperationQueue().addOperations([operation], waitUntilFinished: true) }
  return "4 blocks of 0.2 s took \(rounded(seconds))"
}

func blocksCancelled() -> String {
  let count = Shared(0)
  let operation = BlockOperation()
  for _ in 0..<4 {
    operation.addExecutionBlock { [unowned operation] in
      count.change { $0 += 1 }
      operation.cancel()
    }
  }
  OperationQueue().addOperations([operation], waitUntilFinished: true)
  return "cancelled in the first of 4 blocks: \(count.value) ran"
}

func completionBlockTwice() -> String {
  let count = Shared(0)
  let operation = OwnState()
  operation.completionBlock = { count.change { $0 += 1 } }
  OperationQueue().addOperations([operation], waitUntilFinished: true)
  _ = becomesTrue(within: 1) { count.value == 2 }
  return "the completion block ran \(count.value == 1 ? "once" : "\(count.value) times")"
}
