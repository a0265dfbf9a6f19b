// Durable jobs on SQLite and on PostgreSQL, with the command line, the modes and the output of the rivals:
// `Benchmarks/Jobs/harness.py`.

import Foundation
import GRDB
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsPostgreSQL
import HeadwayJobsSQLite
import Synchronization

@main struct JobsBenchmark {
  static func main() async throws {
    let options = try BenchmarkOptions(CommandLine.arguments)
    let opened = try await OpenedStore(options.store)
    let bench = JobsBench(opened, options)
    guard options.mode.isOfRivals else {
      return try write(try await bench.runAlone())
    }
    var count = options.jobCount
    let least = options.mode == .batch ? JobsBench.batchSize : options.producerCount
    if options.mode == .through { bench.startWorker() }
    if options.warmUp > 0 {
      let rate = try await bench.warmUp(for: options.warmUp, least: least)
      count = min(count, roundedUp(rate * options.seconds, to: least))
    }
    mark(options.store, "begin")
    let (seconds, processorSeconds) = try await bench.run(count)
    mark(options.store, "end")
    if options.mode == .through { try await bench.stopWorker() }
    let result: [String: Any] = [
      "rival": "headway", "version": "", "mode": options.mode.rawValue, "jobs": count,
      "producers": options.mode == .through ? options.producerCount : 1, "seconds": seconds,
      "jobsPerSecond": Double(count) / seconds, "processorSeconds": processorSeconds, "journal": opened.journal,
      "synchronous": opened.synchronous,
    ]
    try write(result)
  }

  private static func write(_ report: [String: Any]) throws {
    let line = try JSONSerialization.data(withJSONObject: report, options: .sortedKeys)
    print(String(decoding: line, as: UTF8.self))
  }

  /// Opens a file that does not exist, so that a list of system calls shows where the measured part is.
  private static func mark(_ store: String, _ event: String) {
    let file = open("\(store).\(event)", O_RDONLY)
    if file >= 0 { close(file) }
  }
}

/// A store, with the settings that determine whether its commits are durable.
struct OpenedStore {
  let store: any JobStoreBackend
  let journal: String
  let synchronous: String
  /// The name of the schedules table.
  let schedules: String
  /// Executes a statement of SQL in a transaction.
  let execute: @Sendable (String) async throws -> Void

  /// Opens a store in a file, or in the PostgreSQL database of a URL.
  init(_ place: String) async throws {
    guard place.hasPrefix("postgres") else {
      var configuration = Configuration()
      SQLiteJobStore.prepare(&configuration)
      let pool = try DatabasePool(path: place, configuration: configuration)
      store = try SQLiteJobStore(pool)
      journal = try await pool.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") ?? "" }
      // The store commits with this setting and fails otherwise. Between its transactions, the pool has GRDB's.
      synchronous = "FULL"
      schedules = "headway_schedule"
      execute = { sql in try await pool.write { try $0.execute(sql: sql) } }
      return
    }
    let server = try await PostgresJobStore(place)
    let settings = try await server.transaction { transaction in
      try ["synchronous_commit", "fsync"].map { try transaction.rows("SHOW \($0)")[0][$0] }
    }
    (store, journal, synchronous) = (server, "WAL", settings == ["on", "on"] ? "FULL" : "OFF")
    schedules = "headway.schedule"
    execute = { sql in try await server.transaction(within: .seconds(60)) { _ = try $0.execute(sql) } }
  }
}

func roundedUp(_ value: Double, to multiple: Int) -> Int {
  Int((value / Double(multiple)).rounded(.up)) * multiple
}
