import Headway

let creator = OQCreateInvocationOperation()
let queue = OperationQueue()

let entered = creator.invocationOperation(data: "four", userInput: "yes")
let nothingEntered = creator.invocationOperation(data: "4", userInput: "")
let unreadable = creator.invocationOperation(data: "four", userInput: "")

for operation in [entered, nothingEntered, unreadable] {
  queue.addOperations([operation], waitUntilFinished: true)
  switch operation.result {
  case .success(let number): print("Result: \(number)")
  case .failure(let error): print("Error: \(error)")
  case nil: print("Did not run")
  }
}
