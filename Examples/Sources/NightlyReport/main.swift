// A report at 2:30 each night. The machine was off for some days, including the one when clocks in Berlin were set
// forward at 2:00. No night is omitted, and none is reported twice.

import Foundation
import Headway
import HeadwayJobs
import HeadwayJobsSQLite
import Synchronization

let berlin = TimeZone(identifier: "Europe/Berlin")!

func text(_ date: Date) -> String { date.formatted(Date.ISO8601FormatStyle(timeZone: berlin)) }

struct Report: Job {
  static let kind: JobKind = "report"

  /// The job knows its night, no matter how late it runs.
  func perform(in context: JobContext) async throws -> String {
    "the report of " + text(context.scheduledDate ?? .now)
  }
}

/// The store's clock, which the example sets.
final class StoreClock: Sendable {
  private let time: Mutex<StoreTime>

  init(_ text: String) throws { time = Mutex(StoreTime(try Date(text, strategy: .iso8601))) }

  var now: StoreTime { time.withLock { $0 } }
  func set(_ text: String) throws {
    let date = try Date(text, strategy: .iso8601)
    time.withLock { $0 = StoreTime(date) }
  }
}

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("headway-example-\(getpid())").path
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(atPath: folder) }
let clock = try StoreClock("2026-03-27T12:00:00Z")
let store = try SQLiteJobStore(path: "\(folder)/jobs.sqlite") { clock.now }
let jobs = Jobs(store)

// The program sets the schedule each time that it starts. If the schedule has not changed, this has no effect.
try await jobs.schedule("nightly", .cron("30 2 * * *", in: berlin), missed: .all(limit: 10), job: Report())
for schedule in try await jobs.schedules() {
  print(schedule.name, "next:", schedule.nextTickTime.map { text($0.date) } ?? "never")
}

// The machine is off.
try clock.set("2026-03-30T12:00:00Z")

// There are two workers, but each night's job is added only once.
let workers = (1...2).map { _ in
  let worker = JobWorker(jobs, kinds: [Report.self])
  worker.serve(on: Headway.OperationQueue(maxConcurrentOperationCount: 1))
  return worker
}
let events = jobs.events
let running = Task {
  try await withThrowingTaskGroup { group in
    for worker in workers { group.addTask { try await worker.run() } }
    try await group.waitForAll()
  }
}
var endCount = 0
for await event in events {
  guard case .ended = event else { continue }
  endCount += 1
  if endCount == 3 { break }
}
for worker in workers { worker.stop() }
try await running.value

for job in try await jobs.jobs() { print(try await jobs.handle(id: job.id, of: Report.self).value) }
for schedule in try await jobs.schedules() {
  print(schedule.name, "next:", schedule.nextTickTime.map { text($0.date) } ?? "never")
}
await store.close()
