import Headway
import Synchronization

/// A stage: how many items it works on at once, and how many it holds at most.
func stage(_ name: String, width: Int) -> OperationQueue {
  let queue = OperationQueue()
  queue.name = name
  queue.maxConcurrentOperationCount = width
  queue.pendingLimit = 32
  return queue
}

let (parse, square, store) = (stage("parse", width: 2), stage("square", width: 4), stage("store", width: 1))
let stored = Mutex((count: 0, sum: 0))

// Each stage hands on to the next, and waits there while that is full; so it fills up itself, and at last this loop
// waits. In all there are never more than about a hundred items, however many come.
for line in 1...20_000 {
  try await parse.add(
    TaskOperation {
      guard let number = Int("\(line)") else { return }
      try await square.add(
        TaskOperation {
          let result = number * number
          try await store.add { stored.withLock { $0 = ($0.count + 1, $0.sum + result) } }
        })
    })
}

// From the first to the last: nothing is added to a stage any more when the one before is empty.
for queue in [parse, square, store] { try await queue.finished() }
print(stored.withLock { "\($0.count) items, \($0.sum)" })
