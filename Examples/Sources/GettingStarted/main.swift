import Headway

let queue = OperationQueue()
queue.maxConcurrentOperationCount = 4

let fetch = BlockOperation { print("fetch") }
let parse = BlockOperation { print("parse") }
let store = BlockOperation { print("store") }
parse.addDependency(fetch)
store.addDependency(parse)

let report = BlockOperation { print("never printed") }
report.name = "report"
report.addDependency(store)
report.cancel()

queue.addOperations([store, parse, fetch], waitUntilFinished: true)
print(report)
