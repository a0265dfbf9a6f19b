// A queue of jobs that are stored until they are done. Cancelled jobs are created again from the store.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

/// The stored data of a job.
private struct StoredJob: Codable {
  let id: Int
  let path: String
  var attempts = 0
}

/// The jobs that have not been done, encoded.
private final class JobStore: @unchecked Sendable {  // The jobs are accessed only under the lock.
  private let lock = NSLock()
  private var stored: [Int: Data] = [:]

  var jobs: [StoredJob] {
    let all = lock.withLock { stored.values.map { $0 } }
    return all.compactMap { try? JSONDecoder().decode(StoredJob.self, from: $0) }.sorted { $0.id < $1.id }
  }

  func save(_ job: StoredJob) {
    let data = try? JSONEncoder().encode(job)
    lock.withLock { stored[job.id] = data }
  }

  func remove(_ id: Int) { lock.withLock { stored[id] = nil } }
}

/// Does one job: calls `super.start()` first, and removes the job from the store when the job is done.
private final class JobOperation: Operation, @unchecked Sendable {
  private let lock = NSLock()
  private var (isRunning, isDone) = (false, false)
  private var job: StoredJob
  private let store: JobStore
  private let server: Server
  private let log: Log

  init(_ job: StoredJob, store: JobStore, server: Server, log: Log) {
    self.job = job
    self.store = store
    self.server = server
    self.log = log
    super.init()
    name = job.path
    self.job.attempts += 1
    store.save(self.job)
  }

  override var isExecuting: Bool { lock.withLock { isRunning } }
  override var isFinished: Bool { lock.withLock { isDone } }
  override var isAsynchronous: Bool { true }

  override func start() {
    super.start()
    guard !isCancelled else { return terminate("cancelled before it ran") }
    set(isRunning: true, isDone: false)
    server.request(job.path) { [self] _ in
      guard !isFinished else { return }
      store.remove(job.id)
      terminate("done")
    }
  }

  override func cancel() {
    super.cancel()
    if isExecuting { terminate("cancelled while it ran") }
  }

  private func terminate(_ why: String) {
    log.note("\(job.path), attempt \(job.attempts): \(why)")
    set(isRunning: false, isDone: true)
  }

  private func set(isRunning: Bool, isDone: Bool) {
    willChangeValue(forKey: "isExecuting")
    willChangeValue(forKey: "isFinished")
    lock.withLock { (self.isRunning, self.isDone) = (isRunning, isDone) }
    didChangeValue(forKey: "isExecuting")
    didChangeValue(forKey: "isFinished")
  }
}

let persistedQueue: Program = [
  ("done", persistedDone), ("cancelled and made again", persistedAgain),
  ("cancelled in a suspended queue and made again", persistedSuspended),
  ("the cancelled one added again", persistedSameAgain),
]

@Sendable private func persistedDone(_ log: Log) {
  let (store, server) = (JobStore(), Server())
  let queue = makeQueue(limit: 1)
  for (id, path) in ["first", "second"].enumerated() {
    queue.addOperation(JobOperation(StoredJob(id: id, path: path), store: store, server: server, log: log))
  }
  log.note("stored: \(store.jobs.map(\.path))")
  server.answer("first")
  server.answer("second")
  queue.waitUntilAllOperationsAreFinished()
  log.note("stored: \(store.jobs.map(\.path))")
}

@Sendable private func persistedAgain(_ log: Log) {
  let (store, server) = (JobStore(), Server())
  let queue = makeQueue(limit: 1)
  for (id, path) in ["first", "second", "third"].enumerated() {
    queue.addOperation(JobOperation(StoredJob(id: id, path: path), store: store, server: server, log: log))
  }
  _ = server.awaitRequest("first")
  letOthersRun()
  // Cancels the last operation first: in this order, the queue has not started any of the operations before it.
  for operation in queue.operations.reversed() { operation.cancel() }
  queue.waitUntilAllOperationsAreFinished()
  log.note("stored: \(store.jobs.map { "\($0.path) \($0.attempts)" })")
  let next = Server()
  for job in store.jobs { queue.addOperation(JobOperation(job, store: store, server: next, log: log)) }
  for path in ["first", "second", "third"] { next.answer(path) }
  queue.waitUntilAllOperationsAreFinished()
  log.note("stored: \(store.jobs.map(\.path))")
}

@Sendable private func persistedSuspended(_ log: Log) {
  let (store, server) = (JobStore(), Server())
  let queue = makeQueue(limit: 1, isSuspended: true)
  for (id, path) in ["first", "second"].enumerated() {
    queue.addOperation(JobOperation(StoredJob(id: id, path: path), store: store, server: server, log: log))
  }
  queue.cancelAllOperations()
  letOthersRun()
  log.note("resumed with \(queue.operationCount) in the queue")
  queue.isSuspended = false
  queue.waitUntilAllOperationsAreFinished()
  for job in store.jobs { queue.addOperation(JobOperation(job, store: store, server: server, log: log)) }
  for path in ["first", "second"] { server.answer(path) }
  queue.waitUntilAllOperationsAreFinished()
  log.note("stored: \(store.jobs.map(\.path))")
}

@Sendable private func persistedSameAgain(_ log: Log) {
  let (store, server, completed) = (JobStore(), Server(), Gate())
  let operation = JobOperation(StoredJob(id: 1, path: "first"), store: store, server: server, log: log)
  operation.cancel()
  log.note("cancelled in no queue: \(operation.outcomeFlags)")
  operation.completionBlock = {
    log.note("completed")
    completed.open()
  }
  let queue = makeQueue()
  queue.addOperations([operation], waitUntilFinished: true)
  completed.wait()
  queue.waitUntilAllOperationsAreFinished()
  log.note("stored: \(store.jobs.map(\.path)), in the queue: \(queue.operationCount)")
}
