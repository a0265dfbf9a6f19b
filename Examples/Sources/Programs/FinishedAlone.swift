// Operations that override only `isFinished`, or begin their work after `super.start()`: the base class is done, and
// the operation continues.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

/// Begins its work in `main()`, and finishes when the work has a response.
private final class Upload: Operation, @unchecked Sendable {
  private let lock = NSLock()
  private var isDone = false
  private let path: String
  private let server: Server
  private let log: Log

  init(_ path: String, to server: Server, log: Log) {
    self.path = path
    self.server = server
    self.log = log
  }

  override var isFinished: Bool { lock.withLock { isDone } }

  override func main() {
    log.note("\(path): begun")
    server.request(path) { [self] text in
      log.note("\(path): \(text)")
      end()
    }
  }

  func end() {
    willChangeValue(forKey: "isFinished")
    lock.withLock { isDone = true }
    didChangeValue(forKey: "isFinished")
  }
}

/// Calls `super.start()` first, and begins its work after it.
private class Job: Operation, @unchecked Sendable {
  private let lock = NSLock()
  private var (isRunning, isDone) = (false, false)
  let path: String
  let server: Server
  let log: Log

  init(_ path: String, on server: Server, log: Log) {
    self.path = path
    self.server = server
    self.log = log
  }

  override var isExecuting: Bool { lock.withLock { isRunning } }
  override var isFinished: Bool { lock.withLock { isDone } }
  override var isAsynchronous: Bool { true }

  override func start() {
    super.start()
    set(isRunning: true, isDone: false)
    if isCancelled {
      log.note("\(path): terminated")
      return set(isRunning: false, isDone: true)
    }
    work()
  }

  func work() {
    log.note("\(path): begun")
    server.request(path) { [self] text in
      log.note("\(path): \(text)")
      set(isRunning: false, isDone: true)
    }
  }

  private func set(isRunning: Bool, isDone: Bool) {
    willChangeValue(for: \.isExecuting)
    willChangeValue(for: \.isFinished)
    lock.withLock { (self.isRunning, self.isDone) = (isRunning, isDone) }
    didChangeValue(for: \.isExecuting)
    didChangeValue(for: \.isFinished)
  }
}

/// Ends in `main()` if there is no work, before the base class is done.
private final class Refresh: Operation, @unchecked Sendable {
  private let lock = NSLock()
  private var isDone = false

  override var isFinished: Bool { lock.withLock { isDone } }

  override func main() {
    willChangeValue(for: \.isFinished)
    lock.withLock { isDone = true }
    didChangeValue(for: \.isFinished)
  }
}

let finishedAlone: Program = [
  ("work begun in main", uploadRun), ("cancelled while it continues", uploadCancelled),
  ("work begun after super.start", jobRun), ("cancelled before super.start", jobCancelled),
  ("finished in main", refreshRun), ("work begun in main, in no queue", uploadByHand),
  ("works in a limited queue", uploadLimited), ("waited for by another", uploadWaited),
]

@Sendable private func uploadRun(_ log: Log) {
  let (server, completed, completions) = (Server(), Gate(), Log())
  let upload = Upload("photo", to: server, log: log)
  upload.completionBlock = {
    completions.note("once")
    completed.open()
  }
  let dependent = BlockOperation { log.note("dependent") }
  dependent.addDependency(upload)
  let queue = makeQueue()
  queue.addOperations([upload, dependent], waitUntilFinished: false)
  let answer = server.awaitRequest("photo")
  letOthersRun()
  log.note("after main(): finished \(upload.isFinished), dependent ready \(dependent.isReady)")
  log.note("in the queue: \(queue.operationCount)")
  answer("stored")
  completed.wait()
  queue.waitUntilAllOperationsAreFinished()
  log.note("completed: \(completions.lines), in the queue: \(queue.operationCount)")
}

@Sendable private func uploadCancelled(_ log: Log) {
  let server = Server()
  let upload = Upload("photo", to: server, log: log)
  let queue = makeQueue(limit: 1)
  queue.addOperation(upload)
  let answer = server.awaitRequest("photo")
  letOthersRun()
  queue.cancelAllOperations()
  letOthersRun()
  log.note("cancelled: finished \(upload.isFinished), in the queue: \(queue.operationCount)")
  answer("stored all the same")
  upload.waitUntilFinished()
  queue.waitUntilAllOperationsAreFinished()
  log.note("cancelled \(upload.isCancelled), finished \(upload.isFinished)")
}

@Sendable private func jobRun(_ log: Log) {
  let (server, completed) = (Server(), Gate())
  let (first, second) = (Job("first", on: server, log: log), Job("second", on: server, log: log))
  second.completionBlock = {
    log.note("completed")
    completed.open()
  }
  second.addDependency(first)
  let queue = makeQueue()
  queue.addOperations([first, second], waitUntilFinished: false)
  let answer = server.awaitRequest("first")
  letOthersRun()
  log.note("first: \(first.outcomeFlags); second: \(second.outcomeFlags); in the queue: \(queue.operationCount)")
  answer("done")
  server.answer("second", with: "done")
  completed.wait()
  queue.waitUntilAllOperationsAreFinished()
  log.note("first: \(first.outcomeFlags); second: \(second.outcomeFlags); in the queue: \(queue.operationCount)")
}

@Sendable private func jobCancelled(_ log: Log) {
  let (server, completed) = (Server(), Gate())
  let job = Job("job", on: server, log: log)
  job.completionBlock = {
    log.note("completed")
    completed.open()
  }
  let queue = makeQueue(isSuspended: true)
  queue.addOperation(job)
  job.cancel()
  queue.isSuspended = false
  completed.wait()
  queue.waitUntilAllOperationsAreFinished()
  log.note("job: \(job.outcomeFlags), never requested: \(server.hasNoRequest)")
}

@Sendable private func refreshRun(_ log: Log) {
  let completed = Gate()
  let refresh = Refresh()
  refresh.completionBlock = { completed.open() }
  let queue = makeQueue()
  queue.addOperations([refresh], waitUntilFinished: true)
  completed.wait()
  queue.waitUntilAllOperationsAreFinished()
  log.note("finished \(refresh.isFinished), in the queue: \(queue.operationCount)")
}

@Sendable private func uploadByHand(_ log: Log) {
  let (server, completed) = (Server(), Gate())
  let upload = Upload("photo", to: server, log: log)
  upload.completionBlock = {
    log.note("completed")
    completed.open()
  }
  upload.start()
  letOthersRun()
  log.note("after start(): finished \(upload.isFinished)")
  server.answer("photo", with: "stored")
  completed.wait()
  log.note("finished \(upload.isFinished)")
}

@Sendable private func uploadLimited(_ log: Log) {
  let server = Server()
  let queue = makeQueue(limit: 1)
  let uploads = ["first", "second", "third"].map { Upload($0, to: server, log: log) }
  queue.addOperations(uploads, waitUntilFinished: false)
  for path in ["first", "second", "third"] {
    let answer = server.awaitRequest(path)
    letOthersRun()
    log.note("in the queue: \(queue.operationCount)")
    answer("stored")
  }
  queue.waitUntilAllOperationsAreFinished()
  log.note("finished: \(uploads.filter(\.isFinished).count)")
}

@Sendable private func uploadWaited(_ log: Log) {
  let server = Server()
  let upload = Upload("photo", to: server, log: log)
  let waiting = BlockOperation {
    upload.waitUntilFinished()
    log.note("waited")
  }
  let queue = makeQueue()
  queue.addOperations([upload, waiting], waitUntilFinished: false)
  let answer = server.awaitRequest("photo")
  letOthersRun()
  answer("stored")
  queue.waitUntilAllOperationsAreFinished()
}
