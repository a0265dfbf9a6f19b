// Subclasses that override the methods that have a block parameter.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

/// The queue interface of a program, so that tests can replace the queue.
private protocol BlockQueue: AnyObject {
  func addOperation(_ block: @escaping @Sendable () -> Void)
  func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void)
}

extension OperationQueue: BlockQueue {}

/// Measures each block.
private final class MeasuringQueue: OperationQueue, @unchecked Sendable {
  let log: Log

  init(_ log: Log) {
    self.log = log
    super.init()
    maxConcurrentOperationCount = 1
  }

  override func addOperation(_ block: @escaping @Sendable () -> Void) {
    let log = log
    super.addOperation {
      log.note("a block begins")
      block()
      log.note("it ends")
    }
  }

  override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
    log.note("a barrier")
    super.addBarrierBlock(barrier)
  }
}

/// Counts its blocks and reports when it begins.
private final class CountingOperation: BlockOperation, @unchecked Sendable {
  private(set) var log = Log()
  private var count = 0

  override init() { super.init() }

  convenience init(_ log: Log, block: @escaping @Sendable () -> Void) {
    self.init(block: block)
    self.log = log
  }

  override func addExecutionBlock(_ block: @escaping @Sendable () -> Void) {
    count += 1
    super.addExecutionBlock(block)
  }

  override var executionBlocks: [@Sendable () -> Void] {
    log.note("asked for its blocks")
    return super.executionBlocks
  }

  override func main() {
    log.note("begins, blocks added: \(count)")
    super.main()
    log.note("ends")
  }
}

let blockOverrides: Program = [("a queue", blocksOfQueue), ("an operation", blocksOfOperation)]

@Sendable private func blocksOfQueue(_ log: Log) {
  let queue = MeasuringQueue(log)
  let (begun, end) = (Gate(), Gate())
  let blockQueue: any BlockQueue = queue
  blockQueue.addOperation {
    begun.open()
    end.wait()
  }
  begun.wait()
  blockQueue.addBarrierBlock { log.note("the barrier runs") }
  end.open()
  queue.waitUntilAllOperationsAreFinished()
}

@Sendable private func blocksOfOperation(_ log: Log) {
  let operation = CountingOperation(log) { log.note("the first block") }
  operation.addExecutionBlock {}
  log.note("blocks: \(operation.executionBlocks.count)")
  makeQueue().addOperations([operation], waitUntilFinished: true)
  log.note(operation.outcomeFlags)
}
