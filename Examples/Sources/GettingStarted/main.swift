import Headway

func fetch(_ path: String) async throws -> String {
  try await Task.sleep(for: .milliseconds(10))  // Simulates a request.
  return "<\(path)>"
}

let queue = OperationQueue(name: "pages", maxConcurrentOperationCount: 4)

// The second operation starts after the first has succeeded, and uses its value.
let page = queue.addTask { try await fetch("page") }
let image = queue.addTask(.dependingOn(page)) { try await fetch("image of " + page.value) }
print(try await image.value)

print(try await queue.concurrentMap(["a", "bb", "ccc"]) { try await fetch($0).count })  // Four at a time, in order.

// Foundation's API: suspend, depend, ask why nothing runs, and cancel.
queue.isSuspended = true
let save = queue.addTask("save") { print("never printed") }
let report = BlockOperation { print("never printed") }
report.name = "report"
report.addDependency(save, requiring: .success)
queue.addOperation(report)
print(report.diagnosis)
save.cancel()
try await queue.untilAllOperationsAreFinished()
print(report)
