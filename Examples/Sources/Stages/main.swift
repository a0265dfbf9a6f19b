import Headway
import Synchronization

/// Creates a stage with the number of items that it processes at the same time, and the maximum number that it holds.
func stage(_ name: String, width: Int) -> OperationQueue {
  let queue = OperationQueue()
  queue.name = name
  queue.maxConcurrentOperationCount = width
  queue.maxOperationCount = 32
  return queue
}

let (parse, square, store) = (stage("parse", width: 2), stage("square", width: 4), stage("store", width: 1))
let stored = Mutex((count: 0, sum: 0))

// Each stage passes items to the next and waits while that stage is full. Then it fills up itself, and finally this
// loop waits. In total there are never more than about a hundred items, however many arrive.
for line in 1...20_000 {
  try await parse.addOperationWhenBelowLimit(
    TaskOperation {
      guard let number = Int("\(line)") else { return }
      try await square.addOperationWhenBelowLimit(
        TaskOperation {
          let result = number * number
          try await store.addOperationWhenBelowLimit { stored.withLock { $0 = ($0.count + 1, $0.sum + result) } }
        })
    })
}

// From the first stage to the last: when a stage is empty, nothing is added to the next one any longer.
for queue in [parse, square, store] { try await queue.untilAllOperationsAreFinished() }
print(stored.withLock { "\($0.count) items, \($0.sum)" })
