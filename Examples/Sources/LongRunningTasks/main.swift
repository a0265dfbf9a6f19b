import Foundation
import Synchronization

// Runs each technique and prints the order of the items in its table, if the technique determines it. To see them with
// times and threads, and how each treats the main thread, run `script/lab`.
for technique in Technique.allCases {
  let added = Mutex<[String]>([])
  let (finished, end) = AsyncStream.makeStream(of: Void.self)
  let run = TechniqueRun(technique, taskCount: 3, itemCount: 4, work: { Thread.sleep(forTimeInterval: 0.001) }) {
    event in
    switch event.kind {
    case .added(let task, let item): added.withLock { $0.append("\(task)-\(item)") }
    case .finished: end.finish()
    default: break
    }
  }
  run.start()
  for await _ in finished {}
  let items = added.withLock { $0 }
  switch technique {
  case .main, .serial, .custom, .dispatchSerial:
    print("\(technique.title): \(items.joined(separator: " "))")
  case .background, .concurrent:
    let tasks = (1...3).map { task in items.filter { $0.hasPrefix("\(task)-") }.joined(separator: " ") }
    print("\(technique.title): \(tasks.joined(separator: ", ")), among each other in any order")
  case .dispatchConcurrent:
    print("\(technique.title): \(items.sorted().joined(separator: " ")), in any order")
  }
}
