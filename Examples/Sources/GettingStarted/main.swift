import Headway

func fetch(_ path: String) async throws -> String {
  try await Task.sleep(for: .milliseconds(10))  // Simulates a network request.
  return "<\(path)>"
}

let queue = OperationQueue(name: "pages", maxConcurrentOperationCount: 4)

let page = queue.addTask { try await fetch("page") }
let image = queue.addTask(dependingOn: page) { try await fetch("image of " + page.value) }

let report = BlockOperation { print("both are there") }
report.addDependency(image)
queue.addOperation(report)

try await queue.untilAllOperationsAreFinished()
print(try await image.value)
print(try await queue.concurrentMap(["a", "bb", "ccc"]) { try await fetch($0).count })
