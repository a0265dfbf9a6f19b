import Headway
import HeadwayTestKit
import Synchronization

extension OQUseOperationQueue {
  /// Runs four operations, two at a time.
  func limitConcurrentOperations() {
    let operationQueue = OperationQueue()
    operationQueue.maxConcurrentOperationCount = 2
    let running = Mutex((now: 0, most: 0))
    let two = Gate()

    for _ in 1...4 {
      operationQueue.addOperation {
        let now = running.withLock { running in
          running.now += 1
          running.most = max(running.most, running.now)
          return running.now
        }
        // The first operation waits for the second, which proves that two run at the same time. The gate stays open for
        // the remaining operations.
        if now == 2 { two.open() }
        two.wait()
        running.withLock { $0.now -= 1 }
      }
    }
    operationQueue.waitUntilAllOperationsAreFinished()
    print("Ran at once, at most: \(running.withLock { $0.most })")
  }

  /// Orders operations of two queues, in whatever order they are added.
  func configureDependencies() {
    let (network, database) = (OperationQueue(), OperationQueue())

    let download = BlockOperation { print("Download") }
    let parse = BlockOperation { print("Parse") }
    let store = BlockOperation { print("Store") }
    parse.addDependency(download)
    store.addDependency(parse)

    // Dependencies belong to the operations, so they also work across queues.
    database.addOperations([store, parse], waitUntilFinished: false)
    network.addOperation(download)
    database.waitUntilAllOperationsAreFinished()
  }

  /// Lets urgent operations overtake others, but only if they are ready.
  func changePriorities() {
    let operationQueue = OperationQueue()
    operationQueue.maxConcurrentOperationCount = 1
    operationQueue.isSuspended = true

    let normal = BlockOperation { print("Normal") }
    let low = BlockOperation { print("Low") }
    low.queuePriority = .low
    let high = BlockOperation { print("High") }
    high.queuePriority = .high
    let notReady = BlockOperation { print("Very high, but it had to wait for low") }
    notReady.queuePriority = .veryHigh
    notReady.addDependency(low)

    operationQueue.addOperations([notReady, low, normal, high], waitUntilFinished: false)
    operationQueue.isSuspended = false
    operationQueue.waitUntilAllOperationsAreFinished()
  }
}
