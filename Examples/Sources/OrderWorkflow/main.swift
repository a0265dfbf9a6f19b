// Orders that take weeks: charge, wait for the warehouse, ship, wait for 14 days, and ask for a review. If an order
// can't be shipped, its charge is refunded. While an order waits, no process needs to run.

import Foundation
import GRDB
import Headway
import HeadwayJobs
import HeadwayJobsSQLite
import Synchronization

struct PlaceOrder: Job {
  static let kind: JobKind = "order"
  var number: Int

  /// The order can't be shipped, and no retry would help.
  struct Unavailable: Error {}

  func perform(in context: JobContext) async throws -> String {
    try await context.step("charge", number)
    do {
      guard let parcel = try await context.waitForSignal("packed", as: String.self, timeLimit: days(3)) else {
        throw Unavailable()
      }
      guard parcel != "broken" else { throw Unavailable() }
      try await context.step("ship \(parcel) of", number)
    } catch is Unavailable {
      // Other errors are retried. A wait also exits the attempt with an error, which this code must not catch.
      try await context.step("refund", number)
      return "refunded"
    }
    try await context.sleep("use it", for: days(14))
    try await context.step("ask for a review of", number)
    return "delivered"
  }
}

extension JobContext {
  /// Writes a row and the end of the step in one transaction, so the row is written once.
  func step(_ name: String, _ order: Int) async throws {
    _ = try await checkpoint(name) { database in
      try database.execute(sql: "INSERT INTO ledger (entry) VALUES (?)", arguments: ["\(name) order \(order)"])
      return database.lastInsertedRowID
    }
  }
}

func days(_ count: Int) -> Duration { .seconds(count * 86_400) }

/// The store's clock, which the example sets.
final class StoreClock: Sendable {
  private let time: Mutex<StoreTime>

  init(_ text: String) throws { time = Mutex(StoreTime(try Date(text, strategy: .iso8601))) }

  var now: StoreTime { time.withLock { $0 } }
  func advance(by duration: Duration) { time.withLock { $0 = $0 + duration } }
}

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("headway-example-\(getpid())").path
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(atPath: folder) }
var configuration = Configuration()
SQLiteJobStore.prepare(&configuration)
let pool = try DatabasePool(path: "\(folder)/shop.sqlite", configuration: configuration)
try pool.write { database in
  try database.execute(sql: "CREATE TABLE ledger (entry TEXT); CREATE TABLE parcel (name TEXT)")
}
let clock = try StoreClock("2026-03-02T09:00:00Z")
let store = try SQLiteJobStore(pool) { clock.now }
let jobs = Jobs(store)
var entryCount = 0

/// Runs all jobs that are due and prints the new entries of the ledger.
@MainActor func runWorker() async throws {
  let worker = JobWorker(jobs, kinds: [PlaceOrder.self])
  worker.serve(on: Headway.OperationQueue(maxConcurrentOperationCount: 1))
  try await worker.drain()
  let entries = try await pool.read { try String.fetchAll($0, sql: "SELECT entry FROM ledger ORDER BY rowid") }
  print("\(clock.now.description.prefix(10)): \(entries[entryCount...].joined(separator: ", "))")
  entryCount = entries.count
}

let orders = try await jobs.enqueue(contentsOf: (1...3).map { PlaceOrder(number: $0) })
try await runWorker()
print(try await jobs.diagnose(orders[0].id))

// The warehouse sends its signals in the transaction that stores its own rows.
try pool.write { database in
  for (order, parcel) in zip(orders, ["parcel 7", "broken"]) {
    try database.execute(sql: "INSERT INTO parcel (name) VALUES (?)", arguments: [parcel])
    try jobs.signal(order.id, "packed", parcel, in: database)
  }
}
try await runWorker()

// The third order was not packed in time.
clock.advance(by: days(3))
try await runWorker()

clock.advance(by: days(11))
try await runWorker()
for order in orders { print("order \(order.id): \(try await order.value)") }
await store.close()
