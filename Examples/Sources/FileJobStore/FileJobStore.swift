import Foundation
import Headway
@_spi(JobStore) import HeadwayJobs

/// A job store in a folder, for one process at a time.
///
/// All rows are in memory. Each transaction adds its changed rows to a journal, and the rows are read from the journal
/// when the store is opened. Requests run one after another on a separate thread, because they wait for the disk.
actor FileJobStore: JobStoreBackend {
  nonisolated let maxPayloadSize = 64 * 1_024

  private let queue = Headway.OperationQueue(name: "file job store", order: .fifo)
  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  private let folder: String
  private let clock: @Sendable () -> StoreTime
  private let observers = HintObservers()
  private let lock: FolderLock
  /// The journal; nil if it can no longer be used.
  private var journal: Journal?
  private var rows: FileRows
  /// The number of requests to process before reading the rows from the journal again, which tests set.
  private let reloadInterval: Int?
  private var requestCount = 0

  /// Opens a folder, or creates it.
  ///
  /// - Parameters:
  ///   - folder: The path of the folder.
  ///   - clock: Returns the current time.
  ///   - isFlushed: False for tests whose jobs need not survive a loss of power.
  ///   - reloadInterval: The number of requests to process before reading the rows from the journal again, which tests
  ///     set.
  /// - Throws: `JobError` with the code `unusableStore` or `newerSchema`.
  init(
    _ folder: String, clock: @escaping @Sendable () -> StoreTime = { .now() }, isFlushed: Bool = true,
    reloadInterval: Int? = nil
  ) throws {
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw JobError(.unusableStore, "The folder \(folder) can't be created: \(error)", underlyingError: error)
    }
    (self.folder, self.clock, self.reloadInterval) = (folder, clock, reloadInterval)
    lock = try FolderLock(folder)
    let journal = try Journal("\(folder)/jobs.journal", isFlushed: isFlushed)
    let rows = try Self.load(journal)
    // The process that ran these workers has ended.
    rows.memory.dead = Set(rows.memory.workers.keys)
    (self.rows, self.journal) = (rows, journal)
  }

  /// Closes the store, so that another process can open the folder.
  func close() {
    journal = nil
    lock.release()
  }

  nonisolated var now: StoreTime { clock() }

  nonisolated func observeHints(_ handler: @escaping @Sendable (JobHint) -> Void) -> any AnyObject & Sendable {
    observers.add(handler)
  }

  // MARK: Transactions

  private func openJournal() throws -> Journal {
    guard let journal else {
      throw JobError(.storeFailed, "The store in \(folder) was closed, or could not read its journal again.")
    }
    return journal
  }

  private static func load(_ journal: Journal) throws -> FileRows {
    let (rows, decoder) = (FileRows(), decoder)
    try journal.read { text in
      do {
        for entry in try decoder.decode([Entry].self, from: Data(text)) { rows.memory.restore(entry) }
      } catch {
        throw JobError(.newerSchema, "A newer version of this program has written the journal: \(error)")
      }
    }
    return rows
  }

  /// Reads the rows from the journal again.
  func reload() throws { try reload(dead: rows.memory.dead) }

  /// Reads the rows from the journal again.
  ///
  /// - Parameter dead: The dead workers, which the journal does not contain.
  /// - Throws: `JobError`. The store can no longer be used.
  private func reload(dead: Set<WorkerID>) throws {
    let journal = try openJournal()
    do {
      rows = try Self.load(journal)
      rows.memory.dead = dead
    } catch {
      self.journal = nil
      throw error
    }
  }

  private func read<Answer>(_ body: (FileRows) throws -> Answer) throws -> Answer {
    _ = try openJournal()
    return try body(rows)
  }

  /// Changes rows.
  ///
  /// The function returns when the journal contains the changes.
  private func change<Answer>(_ body: (FileRows) throws -> Answer) throws -> Answer {
    let journal = try openJournal()
    requestCount += 1
    if let reloadInterval, requestCount.isMultiple(of: reloadInterval) { try reload() }
    let (rows, dead) = (rows, rows.memory.dead)
    rows.begin(at: clock())
    do {
      let answer = try body(rows)
      try rows.settle()
      let changes = rows.changes
      if !changes.isEmpty { try journal.append(Self.encode(changes)) }
      observers.send(rows.hints)
      return answer
    } catch {
      // The journal does not contain the changes, so this undoes them.
      if !rows.changes.isEmpty { try reload(dead: dead) }
      throw error
    }
  }

  // MARK: The stored form

  private static let decoder: JSONDecoder = {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return decoder
  }()

  private static let encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    // The factor of a backoff can be infinite, which JSON has no number for.
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return encoder
  }()

  private static func encode(_ entries: [Entry]) throws -> [UInt8] { [UInt8](try encoder.encode(entries)) }

  /// A journal that is smaller than this is not rewritten.
  private static let minSizeToRewrite = 1_024 * 1_024
  /// The number of rows per line in a rewritten journal.
  private static let lineLength = 100

  /// The size of the journal after it was last rewritten.
  private var writtenSize = 0

  /// If the journal has grown to twice its size, removes the rows that later rows replace.
  private func rewriteJournal() throws {
    let journal = try openJournal()
    guard journal.size > max(Self.minSizeToRewrite, 2 * writtenSize) else { return }
    let entries = rows.memory.entries
    try journal.replace(
      with: stride(from: 0, to: entries.count, by: Self.lineLength).map { start in
        try Self.encode(Array(entries[start..<min(start + Self.lineLength, entries.count)]))
      })
    writtenSize = journal.size
  }

  // MARK: Jobs

  func enqueue(_ jobs: [NewJob]) throws -> [Enqueued] {
    jobs.isEmpty ? [] : try change { try $0.enqueue(jobs) }
  }

  func exchange(_ exchange: JobExchange) throws -> JobExchangeAnswer { try change { try $0.exchange(exchange) } }

  func write(_ writes: [FencedWrite]) throws -> [FencedAnswer] { try change { try writes.map($0.write) } }

  func errorGroups(_ id: JobErrorGroup.ID?) throws -> [JobErrorGroup] {
    let now = clock()
    return try read { $0.memory.errorGroups(id, at: now) }
  }

  func checkpoint(_ name: String, of id: JobID) throws -> JobPayload? {
    try read { $0.memory.checkpoints[id]?[name] }
  }

  func perform(_ command: JobCommand) throws -> Int { try perform(command, by: nil) }

  func perform(_ command: JobCommand, by origin: JobsChangeOrigin?) throws -> Int {
    let count = try change { try $0.perform(command, by: origin) }
    // Workers prune a store every minute. If the disk is full, the old journal remains.
    if command == .prune { try? rewriteJournal() }
    return count
  }

  // MARK: Workers

  func register(_ description: WorkerDescription) throws -> WorkerID { try change { $0.register(description) } }

  func beat(_ worker: WorkerID, running attempts: [JobFence]) throws -> WorkerBeat {
    try read { rows in
      let memory = rows.memory
      var beat = WorkerBeat(isRegistered: memory.workers[worker] != nil && !memory.dead.contains(worker))
      for fence in attempts {
        if let job = memory.jobs[fence.id], job.isRun(by: fence) {
          if job.isCancelRequested { beat.cancellations.insert(fence) }
        } else {
          beat.lost.insert(fence)
        }
      }
      return beat
    }
  }

  func unregister(_ worker: WorkerID, isRunningCode: Bool) throws {
    try change { rows in
      if isRunningCode {
        rows.noteStopped(worker)
      } else {
        _ = try rows.remove(worker, isCrash: false)
      }
    }
  }

  func rescue() throws -> [JobID] {
    try read { $0.memory.dead.sorted() }.flatMap { worker in try change { try $0.remove(worker, isCrash: true) } }
  }

  /// Marks a worker as dead, as if its process had been killed.
  func kill(_ worker: WorkerID) { rows.memory.dead.insert(worker) }

  /// Simulates a full disk with this many free bytes in tests; nil for an unlimited disk.
  func fillDisk(except room: Int?) { journal?.maxSize = room.map { (journal?.size ?? 0) + $0 } }

  // MARK: Time

  func advance() throws -> StoreTime? {
    let time = clock()
    // An idle store writes nothing.
    guard let next = try read({ $0.nextTime(after: time) }) else { return nil }
    return next > time ? next : try change { try $0.advance() }
  }

  func perform(_ command: ScheduleCommand, on name: String) throws -> ScheduleAnswer {
    try perform(command, on: name, by: nil)
  }

  func perform(_ command: ScheduleCommand, on name: String, by origin: JobsChangeOrigin?) throws -> ScheduleAnswer {
    try change { try $0.change(name, command, by: origin) }
  }

  func changes(of job: JobID?, before number: Int64?, limit: Int) throws -> [JobsChangeRecord] {
    try read { $0.memory.changes(of: job, before: number, limit: limit) }
  }

  func schedules() throws -> [ScheduleRecord] { try read { $0.memory.schedules.values.sorted { $0.name < $1.name } } }

  // MARK: Reading

  func jobs(_ filter: JobFilter, after id: JobID?, limit: Int) throws -> [JobRecord] {
    try read { rows in
      let found = rows.memory.jobs.values.filter { filter.contains($0) && $0.id.rawValue > id?.rawValue ?? .min }
      return Array(found.sorted { $0.id < $1.id }.prefix(limit))
    }
  }

  func edges(of ids: [JobID]) throws -> [JobEdge] {
    try read { rows in
      let edges = ids.flatMap { rows.memory.graph.edges(from: $0) + rows.memory.graph.edges(to: $0) }
      return Set(edges).sorted { ($0.dependency, $0.dependent) < ($1.dependency, $1.dependent) }
    }
  }

  func counts() throws -> [String: JobQueueCounts] { try read { $0.memory.counts(includesJobs: true) } }

  func snapshot(_ parts: JobsSnapshot.Parts) throws -> JobsSnapshot {
    try read { $0.memory.snapshot(parts, at: clock()) }
  }
}
