#if Lab
import Foundation
import Headway
import HeadwayImport
import HeadwaySampleData
import Hummingbird
import Synchronization

/// Imports a feed into SQLite, while a live table shows the rows that arrive.
final class ImportWorkshop: Sendable {
  struct Event: Encodable {
    struct Table: Encodable {
      var name: String
      var rows: Int
      var rejected: Int
      var fraction: Double
      var isComplete: Bool
    }

    var type = "import"
    var phase: Phase
    var message: String
    var tables: [Table] = []
    var rows = 0
    var seconds = 0.0
    var liveTable = "stop_times"
    var liveCount = 0
    var columns: [String] = []
    var liveRows: [[String]] = []
  }

  private struct StartRequest: Decodable {
    var stopTimes: Int
  }

  private let journal: Journal
  private let folder: String
  private let feed: String?
  /// Controls the import that is running.
  let turn = Turn(queue: Headway.OperationQueue(name: "import", maxConcurrentOperationCount: 8))

  init(_ journal: Journal, folder: String, feed: String?) {
    self.journal = journal
    self.folder = folder + "/import"
    self.feed = feed
  }

  func addRoutes(to router: Router<BasicRequestContext>) {
    router.post("api/import/start") { [self] request, context in
      let stopTimes = try await request.decode(as: StartRequest.self, context: context).stopTimes
      guard 2...5_000_000 ~= stopTimes else { throw HTTPError(.unprocessableContent) }
      guard turn.take() else { return HTTPResponse.Status.conflict }
      Task(executorPreference: turn.queue) { await self.run(stopTimes: stopTimes) }
      return .accepted
    }
    router.post("api/import/cancel") { [self] _, _ in
      turn.cancel()
      return HTTPResponse.Status.accepted
    }
  }

  private func run(stopTimes: Int) async {
    defer { turn.giveBack() }
    do {
      try await importFeed(stopTimes: stopTimes)
    } catch {
      let isCancelled = turn.isCancelled
      publish(Event(phase: isCancelled ? .cancelled : .failed, message: isCancelled ? "Cancelled." : "\(error)"))
    }
  }

  private func importFeed(stopTimes: Int) async throws {
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let source = feed ?? (folder + "/feed")
    if feed == nil {
      publish(Event(phase: .generating, message: "Generating a feed …"))
      let writing = Headway.BlockOperation()
      writing.addExecutionBlock { [weak writing] in
        try SampleFeed(stopTimes: stopTimes).write(to: source, isCancelled: { writing?.isCancelled ?? true })
      }
      turn.add([writing])
      try await writing.untilSucceeded()
    }
    let path = folder + "/feed.sqlite"
    let feedImport = try FeedImport(folder: source, into: ImportDatabase(path: path))
    let start = ContinuousClock.now
    turn.add(feedImport.operations)
    let table = LiveTable(path: path, table: "stop_times", rowRange: 0..<8)
    // The sequence ends when the operations do. While it delivers no snapshot, other tables continue.
    var last = ContinuousClock.now - .seconds(1)
    var snapshot: LiveTable.Snapshot?
    let snapshots = Latest<LiveTable.Snapshot>()
    async let watching: Void = snapshots.follow(table.snapshots(until: feedImport.operations))
    while !feedImport.operations.allSatisfy(\.isFinished) {
      try await Task.sleep(for: .milliseconds(50))
      snapshot = snapshots.value
      guard .now - last > .milliseconds(100) else { continue }
      last = .now
      publish(event(.running, "Importing …", feedImport, snapshot, start))
    }
    let end = ContinuousClock.now
    try await watching
    let wasCancelled = feedImport.operations.contains { $0.isCancelled }
    if let error = feedImport.operations.lazy.compactMap(\.error).first, !wasCancelled { throw error }
    let message =
      wasCancelled ? "Cancelled: the rows that were committed stay." : "All tables are in the database."
    publish(event(wasCancelled ? .cancelled : .finished, message, feedImport, snapshots.value, start, end))
  }

  private func event(
    _ phase: Phase, _ message: String, _ feedImport: FeedImport, _ snapshot: LiveTable.Snapshot?,
    _ start: ContinuousClock.Instant, _ end: ContinuousClock.Instant = .now
  ) -> Event {
    var event = Event(phase: phase, message: message)
    event.tables = zip(feedImport.operations, feedImport.reports).map { operation, report in
      Event.Table(
        name: report.table, rows: report.rowCount, rejected: report.rejectedRowCount,
        fraction: operation.progress.fractionCompleted, isComplete: report.isComplete)
    }
    event.rows = event.tables.map(\.rows).reduce(0, +)
    event.seconds = (end - start).inSeconds
    event.liveCount = snapshot?.count ?? 0
    event.columns = snapshot?.columns ?? []
    event.liveRows = snapshot?.rows.map { $0.map { Self.shown($0 ?? "") } } ?? []
    return event
  }

  /// The part of a value that a cell shows: a field can be a megabyte long, and there can be many viewers.
  private static func shown(_ value: String) -> String {
    let limit = 100
    return value.utf8.count <= limit ? value : value.unicodeScalars.prefix(limit).map(String.init).joined() + "…"
  }

  private func publish(_ event: Event) { journal.append(event, key: "import") }
}

/// The last value of a sequence.
final class Latest<Value: Sendable>: Sendable {
  // Protected by its lock.
  private let last = Mutex<Value?>(nil)

  /// The last value so far.
  var value: Value? { last.withLock { $0 } }

  /// Stores each value until the next one arrives.
  func follow(_ values: some AsyncSequence<Value, any Error> & Sendable) async throws {
    for try await value in values { last.withLock { $0 = value } }
  }
}
#endif
