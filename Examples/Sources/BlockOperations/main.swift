import Headway

let creator = OQCreateBlockOperation()

print("By hand:")
let byHand = creator.blockOperation()
byHand.start()
print(byHand.isFinished ? "Finished" : "Not finished")

print("In a queue, where the three blocks use one concurrency slot:")
let queue = OperationQueue()
queue.maxConcurrentOperationCount = 1
queue.addOperations([creator.blockOperation()], waitUntilFinished: true)
print("Finished")

print("Cancelled before it starts:")
let cancelled = creator.blockOperation()
print("\(cancelled.executionBlocks.count) blocks have not begun")
cancelled.cancel()
queue.addOperations([cancelled], waitUntilFinished: true)
print("Finished without running any")
