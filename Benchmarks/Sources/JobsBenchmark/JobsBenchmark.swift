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
    let bench = JobsBench(opened.store, options)
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

  /// Opens a store in a file, or in the PostgreSQL database of a URL.
  init(_ place: String) async throws {
    guard place.hasPrefix("postgres") else {
      var configuration = Configuration()
      SQLiteJobStore.prepare(&configuration)
      let pool = try DatabasePool(path: place, configuration: configuration)
      store = try SQLiteJobStore(pool)
      journal = try await pool.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") ?? "" }
      // The store commits with this setting, and fails otherwise. Between its transactions, the pool has GRDB's.
      synchronous = "FULL"
      return
    }
    let server = try await PostgresJobStore(place)
    let settings = try await server.transaction { transaction in
      try ["synchronous_commit", "fsync"].map { try transaction.rows("SHOW \($0)")[0][$0] }
    }
    (store, journal, synchronous) = (server, "WAL", settings == ["on", "on"] ? "FULL" : "OFF")
  }
}

func roundedUp(_ value: Double, to multiple: Int) -> Int {
  Int((value / Double(multiple)).rounded(.up)) * multiple
}

/// The command line.
struct BenchmarkOptions {
  enum Mode: String {
    case through, drain, single, batch
    // Only for Headway.
    case waiting, idle, latency, steady

    var isOfRivals: Bool { ![.waiting, .idle, .latency, .steady].contains(self) }
  }

  let mode: Mode
  var store = ""
  var jobCount = 0
  var producerCount = 64
  var warmUp = 5.0
  var seconds = 3.0
  /// The size of the JSON of a job.
  var payloadSize = 200
  /// The number of jobs that wait while others run.
  var waitingCount = 0
  /// The number of jobs that are enqueued per second.
  var rate = 500

  init(_ arguments: [String]) throws {
    guard arguments.count > 1, let mode = Mode(rawValue: arguments[1]) else {
      let modes = "through|drain|single|batch|waiting|idle|latency|steady"
      throw UsageError(text: "usage: JobsBenchmark \(modes) --store STORE --jobs N")
    }
    self.mode = mode
    var rest = arguments.dropFirst(2)
    while let name = rest.popFirst() {
      guard let value = rest.popFirst() else { throw UsageError(text: "\(name) has no value") }
      switch name {
      case "--store": store = value
      case "--jobs": jobCount = Int(value) ?? 0
      case "--producers": producerCount = Int(value) ?? 0
      case "--warm-up": warmUp = Double(value) ?? 0
      case "--seconds": seconds = Double(value) ?? 0
      case "--payload": payloadSize = Int(value) ?? 0
      case "--waiting": waitingCount = Int(value) ?? 0
      case "--rate": rate = Int(value) ?? 0
      default: throw UsageError(text: "unknown option \(name)")
      }
    }
  }
}

struct UsageError: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
}

/// A job of 200 bytes of JSON, or as many as requested, which is counted.
struct Count: Job {
  static let kind: JobKind = "count"
  static let counter = Counter()
  var number: Int
  var text: String

  /// The JSON is `{"number":N,"text":"xxx…"}`.
  init(_ number: Int, size: Int) {
    self.number = number
    text = String(decoding: Self.filler[..<(size - 22 - String(number).utf8.count)], as: UTF8.self)
  }

  private static let filler = [UInt8](repeating: UInt8(ascii: "x"), count: 65_536)

  func perform(in context: JobContext) async throws { Self.counter.add(number) }
}

/// A job that measures how long it has waited.
struct Timed: Job {
  static let kind: JobKind = "timed"
  static let waits = Mutex<[(number: Int, seconds: Double)]>([])
  var number: Int
  var sent: Double

  func perform(in context: JobContext) async throws {
    let seconds = Date().timeIntervalSinceReferenceDate - sent
    Self.waits.withLock { $0.append((number, seconds)) }
  }
}

/// How many jobs have run, and the sum of their numbers.
final class Counter: Sendable {
  private let state = Mutex((count: 0, sum: 0))

  func add(_ number: Int) { state.withLock { $0 = ($0.count + 1, $0.sum + number) } }

  var value: (count: Int, sum: Int) { state.withLock { $0 } }
}

/// Runs one mode for a number of jobs, as often as it is called.
final class JobsBench {
  static let batchSize = 1_000

  private let store: any JobStoreBackend
  private let jobs: Jobs
  private let options: BenchmarkOptions
  private var enqueuedCount = 0
  private var worker: JobWorker?
  private var running: Task<Void, any Error>?

  init(_ store: any JobStoreBackend, _ options: BenchmarkOptions) {
    self.store = store
    self.options = options
    jobs = Jobs(store)
  }

  func startWorker() {
    let worker = JobWorker(jobs, kinds: [Count.self])
    worker.serve(on: OperationQueue())
    self.worker = worker
    running = Task { try await worker.run() }
  }

  func stopWorker() async throws {
    worker?.stop()
    try await running?.value
  }

  /// Repeats the work, for one second each time, and returns the jobs per second of the last repetition.
  func warmUp(for seconds: Double, least: Int) async throws -> Double {
    let end = Date() + seconds
    var count = least
    while true {
      let rate = try await Double(count) / run(count).seconds
      let left = end.timeIntervalSinceNow
      guard left > 0 else { return rate }
      count = max(least, roundedUp(rate * min(left, 1), to: least))
    }
  }

  func run(_ count: Int) async throws -> (seconds: Double, processorSeconds: Double) {
    let batch = newJobs(count)
    if options.mode == .drain { try await enqueueInBatches(batch) }
    let (start, processor) = (Date(), processorSeconds())
    switch options.mode {
    case .through:
      try await produce(batch)
      try await waitForEnds()
    case .drain:
      startWorker()
      try await waitForEnds()
    case .single: for job in batch { try await jobs.enqueue(job) }
    case .batch, .waiting, .idle, .latency, .steady: try await enqueueInBatches(batch)
    }
    let result = (Date().timeIntervalSince(start), processorSeconds() - processor)
    if options.mode == .drain { try await stopWorker() }
    return result
  }

  /// Runs a mode that only Headway has.
  func runAlone() async throws -> [String: Any] {
    switch options.mode {
    case .idle: try await rest()
    case .latency: try await measureLatency()
    case .steady: try await runSteadily()
    default: try await runBesideWaiting()
    }
  }

  /// Measures the time from when a job is enqueued through another store, as by another process, to when it runs.
  private func measureLatency() async throws -> [String: Any] {
    startWorker()
    let other = Jobs(try await OpenedStore(options.store).store)
    var waits: [Double] = []
    for number in 0..<options.jobCount {
      // The worker has nothing to do before each job, and a store sends at most ten notifications per second.
      try await Task.sleep(for: .milliseconds(150))
      let start = Date()
      try await other.enqueue(Count(number, size: options.payloadSize))
      while Count.counter.value.count <= number { try await Task.sleep(for: .microseconds(100)) }
      waits.append(Date().timeIntervalSince(start) * 1_000)
    }
    try await stopWorker()
    waits.sort()
    return [
      "mode": "latency", "jobs": options.jobCount, "medianMilliseconds": waits[waits.count / 2],
      "percentile99Milliseconds": waits[waits.count * 99 / 100],
    ]
  }

  /// Enqueues jobs at a constant rate, and measures how long each waits until it runs.
  private func runSteadily() async throws -> [String: Any] {
    let worker = JobWorker(jobs, kinds: [Timed.self])
    worker.serve(on: OperationQueue())
    let running = Task { try await worker.run() }
    let (jobs, start) = (jobs, ContinuousClock.now)
    let count = Int(Double(options.rate) * options.seconds)
    for number in 0..<count {
      try await Task.sleep(until: start + .seconds(1) * Double(number) / Double(options.rate), clock: .continuous)
      try await jobs.enqueue(Timed(number: number, sent: Date().timeIntervalSinceReferenceDate))
    }
    let backlog = count - Timed.waits.withLock(\.count)
    while Timed.waits.withLock(\.count) < count { try await Task.sleep(for: .milliseconds(1)) }
    worker.stop()
    try await running.value
    let waits = Timed.waits.withLock { $0.sorted { $0.number < $1.number } }.map(\.seconds)
    func percentile99(_ part: ArraySlice<Double>) -> Double { part.sorted()[part.count * 99 / 100] * 1_000 }
    return [
      "mode": "steady", "jobs": count, "jobsPerSecond": options.rate, "backlog": backlog,
      "firstTenthPercentile99Milliseconds": percentile99(waits.prefix(count / 10)),
      "lastTenthPercentile99Milliseconds": percentile99(waits.suffix(count / 10)),
    ]
  }

  /// Runs jobs while many others wait.
  private func runBesideWaiting() async throws -> [String: Any] {
    let count = options.waitingCount + options.jobCount
    while enqueuedCount < count {
      try await enqueueInBatches(newJobs(min(10 * Self.batchSize, count - enqueuedCount)))
    }
    let memory = residentBytes()
    let start = Date()
    startWorker()
    while Count.counter.value.count < options.jobCount { try await Task.sleep(for: .milliseconds(1)) }
    let seconds = Date().timeIntervalSince(start)
    let report: [String: Any] = [
      "mode": "waiting", "waiting": options.waitingCount, "jobs": options.jobCount, "seconds": seconds,
      "jobsPerSecond": Double(options.jobCount) / seconds, "residentMegabytes": Double(residentBytes()) / 1e6,
      "residentMegabytesBefore": Double(memory) / 1e6,
    ]
    try await stopWorker()
    return report
  }

  /// Measures a worker that has nothing to do.
  private func rest() async throws -> [String: Any] {
    startWorker()
    try await jobs.enqueue(Count(0, size: options.payloadSize)).value
    try await Task.sleep(for: .seconds(2))
    let (processor, written) = (processorSeconds(), try writtenBytes())
    try await Task.sleep(for: .seconds(options.seconds))
    let report: [String: Any] = [
      "mode": "idle", "seconds": options.seconds,
      "processorPercent": (processorSeconds() - processor) / options.seconds * 100,
      "writtenBytes": try writtenBytes() - written,
    ]
    try await stopWorker()
    return report
  }

  private func newJobs(_ count: Int) -> [Count] {
    let batch = (0..<count).map { Count(enqueuedCount + $0, size: options.payloadSize) }
    enqueuedCount += count
    return batch
  }

  private func produce(_ batch: [Count]) async throws {
    let (jobs, count) = (jobs, options.producerCount)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for first in 0..<count {
        group.addTask {
          for index in stride(from: first, to: batch.count, by: count) { try await jobs.enqueue(batch[index]) }
        }
      }
      try await group.waitForAll()
    }
  }

  private func enqueueInBatches(_ batch: [Count]) async throws {
    for start in stride(from: 0, to: batch.count, by: Self.batchSize) {
      try await jobs.enqueue(contentsOf: batch[start..<min(start + Self.batchSize, batch.count)])
    }
  }

  /// Waits until the ends of all jobs are recorded, and checks that each job has run once.
  private func waitForEnds() async throws {
    // Counting the rows takes a while, so it begins when all jobs have run.
    while Count.counter.value.count < enqueuedCount { try await Task.sleep(for: .milliseconds(1)) }
    while try await store.counts()[JobOptions.defaultQueue]?[.succeeded] != enqueuedCount {
      try await Task.sleep(for: .milliseconds(1))
    }
    let (count, sum) = Count.counter.value
    guard count == enqueuedCount, sum == enqueuedCount * (enqueuedCount - 1) / 2 else {
      throw UsageError(text: "\(count) jobs ran instead of \(enqueuedCount), or other ones")
    }
  }

  /// The number of bytes of files that this process has changed.
  private func writtenBytes() throws -> Int {
    let lines = try String(contentsOfFile: "/proc/self/io", encoding: .utf8).split(separator: "\n")
    let line = lines.first { $0.hasPrefix("write_bytes: ") }
    guard let count = line.flatMap({ Int($0.dropFirst("write_bytes: ".count)) }) else {
      throw UsageError(text: "/proc/self/io has no line `write_bytes`")
    }
    return count
  }

  private func residentBytes() -> Int {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
    return pages.flatMap { Int($0[1]) }.map { $0 * 4_096 } ?? 0
  }

  private func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
  }
}
