import Headway

let queue = OperationQueue()

let loaded = Scenario()
queue.addOperation(loaded.operation)
loaded.connection.started.wait()
loaded.send(.response(200), .data([1, 2, 3]), .data([4, 5]), .end)
loaded.report("Loaded")

let failed = Scenario()
queue.addOperation(failed.operation)
failed.connection.started.wait()
failed.send(.response(200), .data([1, 2, 3]), .failure(ConnectionLost()))
failed.report("Failed")

let outside = Scenario()
outside.operation.cancel()
outside.report("Cancelled before it is in a queue")

let waiting = Scenario()
queue.isSuspended = true
queue.addOperation(waiting.operation)
waiting.operation.cancel()
waiting.report("Cancelled while it waits in a queue")
queue.isSuspended = false

let running = Scenario()
queue.addOperation(running.operation)
running.connection.started.wait()
running.send(.response(200), .data([1, 2, 3]))
running.operation.cancel()
running.send(.data([4, 5]), .end)  // Too late.
running.report("Cancelled while it runs")

let redirected = Scenario()
queue.addOperation(redirected.operation)
redirected.connection.started.wait()
redirected.send(.redirect("/new"))
redirected.operation.cancel()
redirected.send(.response(200), .data([1, 2, 3]), .end)
redirected.report("Cancelled after a redirect")

// The end arrives at the same time as the request is cancelled. It finishes once, whichever is first.
var count = 0
for _ in 1...100 {
  let scenario = Scenario()
  queue.addOperation(scenario.operation)
  scenario.connection.started.wait()
  scenario.connection.send(.end)
  scenario.operation.cancel()
  scenario.operation.waitUntilFinished()
  scenario.connection.waitUntilDelivered()
  if scenario.hasFinishedOnce { count += 1 }
}
queue.waitUntilAllOperationsAreFinished()
print(
  "Ended and cancelled at the same time: finished once \(count) times of 100, \(queue.operationCount) left in the queue"
)
