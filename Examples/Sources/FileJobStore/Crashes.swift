import Foundation
import Headway
@_spi(JobStore) import HeadwayJobs

struct Note: Job {
  static let kind: JobKind = "note"
  var number: Int
  func perform(in context: JobContext) async throws {}
}

/// Adds jobs until the process is killed, runs them, and prints each number that is durable.
func addJobs(to folder: String, from first: Int) async throws {
  let jobs = Jobs(try FileJobStore(folder))
  let worker = JobWorker(jobs, kinds: [Note.self])
  worker.serve(on: Headway.OperationQueue(maxConcurrentOperationCount: 2))
  let running = Task { try await worker.run() }
  for number in first... {
    try await jobs.enqueue(Note(number: number))
    FileHandle.standardOutput.write(Data("\(number)\n".utf8))
  }
  try await running.value
}

/// Kills processes while they change a store.
///
/// - Returns: The number of jobs that the processes have stored.
/// - Throws: ``Defect`` if a job that a process had stored is missing after that process was killed.
func killProcesses(_ count: Int, in folder: String) async throws -> Int {
  var total = 0
  for round in 0..<count {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = ["add", folder, "\(total)"]
    process.standardOutput = output
    try process.run()
    // Each process prints a different number of lines before it is killed.
    var lines: [Substring] = []
    var text = ""
    while lines.count < 3 + round % 5 {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { throw Defect(description: "A process has ended before it was killed: \(text)") }
      text += String(decoding: data, as: UTF8.self)
      lines = text.split(separator: "\n")
    }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    text += String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    let printed = text.split(separator: "\n").compactMap { Int($0) }
    let store = try FileJobStore(folder)
    let numbers = Set(
      try await store.jobs(.all, after: nil, limit: .max).map { try $0.payload.decode(Note.self).number })
    await store.close()
    guard numbers.isSuperset(of: 0..<total), numbers.isSuperset(of: printed) else {
      throw Defect(description: "After a kill, jobs are missing.")
    }
    total = (numbers.max() ?? -1) + 1
  }
  return total
}

/// Cuts the journal of a store at each byte of its last line, then opens the store.
///
/// - Throws: ``Defect`` if anything other than the last transaction is missing.
func cutJournal(in folder: String) async throws {
  let store = try FileJobStore(folder, isFlushed: false)
  let kept = try await store.enqueue((0..<3).map { _ in NewJob(kind: "note", payload: JobPayload(bytes: [])) })
  let path = "\(folder)/jobs.journal"
  let begin = try Data(contentsOf: URL(fileURLWithPath: path)).count
  _ = try await store.enqueue([NewJob(kind: "note", payload: JobPayload(bytes: []))])
  await store.close()
  let journal = try Data(contentsOf: URL(fileURLWithPath: path))
  for end in begin..<journal.count {
    try journal.prefix(end).write(to: URL(fileURLWithPath: path))
    let store = try FileJobStore(folder, isFlushed: false)
    let ids = try await store.jobs(.all, after: nil, limit: .max).map(\.id)
    let next = try await store.enqueue([NewJob(kind: "note", payload: JobPayload(bytes: []))])
    await store.close()
    guard ids == kept.map(\.id), next[0].id.rawValue == 4 else {
      throw Defect(description: "After a cut at byte \(end) of \(journal.count), the jobs are \(ids).")
    }
  }
}

/// Fills the disk in the middle of transactions and then frees space again.
///
/// - Throws: ``Defect`` if a transaction has an effect although the disk was full, or if a later transaction has no
///   effect.
func fillDisk(in folder: String) async throws {
  let store = try FileJobStore(folder, isFlushed: false)
  let job = NewJob(kind: "note", payload: JobPayload(bytes: []))
  let id = try await store.enqueue([job])[0].id
  let worker = try await store.register(
    WorkerDescription(name: "worker", processIdentifier: 1, queues: ["default"], kinds: ["note": 1]))
  let claim = JobClaim(queue: "default", count: 1, allowsSuspect: true, kinds: ["note": 1])
  _ = try await store.exchange(JobExchange(worker: worker, endings: [], claims: [claim]))
  await store.kill(worker)
  for room in [0, 10] {
    await store.fillDisk(except: room)
    for isRescue in [false, true] {
      do {
        if isRescue { _ = try await store.rescue() } else { _ = try await store.enqueue([job]) }
        throw Defect(description: "A transaction has succeeded although the disk was full.")
      } catch let error as JobError where error.code == .storeFull {}
    }
  }
  await store.fillDisk(except: nil)
  let (rescued, next) = (try await store.rescue(), try await store.enqueue([job])[0].id)
  await store.close()
  guard rescued == [id], next.rawValue == id.rawValue + 1 else {
    throw Defect(description: "After the disk was full, the jobs \(rescued) were rescued, and \(next) was added.")
  }
}

struct Defect: Error, CustomStringConvertible {
  let description: String
}
