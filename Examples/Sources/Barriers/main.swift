import Headway
import Synchronization

let written = Mutex<[Int]>([])
let queue = OperationQueue()

for number in 1...5 {
  queue.addOperation { written.withLock { $0.append(number) } }
}
queue.addBarrierBlock {
  // Everything that was added before has finished, and nothing that was added after has started.
  print(written.withLock { $0.sorted() })
}
for number in 6...10 {
  queue.addOperation { written.withLock { $0.append(number) } }
}
queue.waitUntilAllOperationsAreFinished()
print(written.withLock { $0.count })
