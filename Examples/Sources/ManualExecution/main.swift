import Headway

let performer = OQManualExecuteOperation()

let first = BlockOperation { print("The first works") }
let second = BlockOperation { print("The second works") }
second.addDependency(first)
let cancelled = BlockOperation { print("never printed") }
cancelled.cancel()
let asynchronous = OQAsynchronousOperation()

print("The second can run: \(performer.manualPerform(second))")
print("The first can run: \(performer.manualPerform(first))")
print("The second can run: \(performer.manualPerform(second))")
print("The cancelled one is done with: \(performer.manualPerform(cancelled)), and finished: \(cancelled.isFinished)")
_ = performer.manualPerform(asynchronous)
asynchronous.waitUntilFinished()
print("The asynchronous one is finished: \(asynchronous.isFinished)")
