/// The waiting jobs of a ``MemoryJobs``, in the order of claims.
struct MemoryWaitingLists {
  /// The lists of plain jobs, by queue: jobs without a key, and suspects.
  private var plain: [String: [PlainKey: WaitingList]] = [:]
  /// The lists of the other jobs with a key, by queue, priority, group and key.
  private var keyed: [String: [Int: [String: [String: WaitingList]]]] = [:]

  /// Identifies a list of plain jobs.
  struct PlainKey: Hashable {
    let queue: String
    let priority: Int
    let isSuspect: Bool
  }

  mutating func insert(_ job: JobRecord) {
    if let (group, key) = Self.keys(of: job) {
      keyed[job.queue, default: [:]][job.priority, default: [:]][group, default: [:]][key, default: WaitingList()]
        .insert(job.id, at: job.position)
    } else {
      plain[job.queue, default: [:]][Self.plainKey(of: job), default: WaitingList()].insert(job.id, at: job.position)
    }
  }

  mutating func remove(_ job: JobRecord) {
    guard let (group, key) = Self.keys(of: job) else {
      let key = Self.plainKey(of: job)
      plain[job.queue]?[key]?.remove(at: job.position)
      guard plain[job.queue]?[key]?.isEmpty == true else { return }
      plain[job.queue]?[key] = nil
      if plain[job.queue]?.isEmpty == true { plain[job.queue] = nil }
      return
    }
    keyed[job.queue]?[job.priority]?[group]?[key]?.remove(at: job.position)
    guard keyed[job.queue]?[job.priority]?[group]?[key]?.isEmpty == true else { return }
    keyed[job.queue]?[job.priority]?[group]?[key] = nil
    guard keyed[job.queue]?[job.priority]?[group]?.isEmpty == true else { return }
    keyed[job.queue]?[job.priority]?[group] = nil
    if keyed[job.queue]?[job.priority]?.isEmpty == true { keyed[job.queue]?[job.priority] = nil }
    if keyed[job.queue]?.isEmpty == true { keyed[job.queue] = nil }
  }

  /// The queues that have waiting jobs.
  var queues: Set<String> { Set(plain.keys).union(keyed.keys) }

  /// The lists of plain jobs of a queue.
  func plainKeys(of queue: String) -> [PlainKey] { Array(plain[queue, default: [:]].keys) }

  func list(_ key: PlainKey) -> WaitingList? { plain[key.queue]?[key] }

  /// The priorities of a queue that have jobs with keys, highest first.
  func levels(of queue: String) -> [Int] { keyed[queue, default: [:]].keys.sorted(by: >) }

  /// The groups of a priority, in order.
  func groups(of queue: String, level: Int) -> [String] { Self.sorted((keyed[queue]?[level] ?? [:]).keys) }

  /// The keys of a group, in order.
  func keys(of queue: String, level: Int, group: String) -> [String] {
    Self.sorted((keyed[queue]?[level]?[group] ?? [:]).keys)
  }

  private static func sorted(_ names: some Collection<String>) -> [String] {
    names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  func list(ofKey key: String, queue: String, level: Int, group: String) -> WaitingList? {
    keyed[queue]?[level]?[group]?[key]
  }

  private static func plainKey(of job: JobRecord) -> PlainKey {
    PlainKey(queue: job.queue, priority: job.priority, isSuspect: job.crashCount > 0)
  }

  private static func keys(of job: JobRecord) -> (group: String, key: String)? {
    guard job.crashCount == 0, let limit = job.settings.firstLimit, let group = job.settings.furtherLimits else {
      return nil
    }
    return (group, limit.storedKey)
  }
}

/// Jobs ordered by position.
struct WaitingList {
  private var entries: [(position: Int64, id: JobID)] = []
  /// The number of entries at the beginning of the array that have been removed.
  private var removedCount = 0

  var isEmpty: Bool { removedCount == entries.count }

  /// Returns the first entry after a position.
  func first(after position: Int64 = .min) -> (position: Int64, id: JobID)? {
    let index = index(of: position &+ (position == .max ? 0 : 1))
    return index < entries.count ? entries[index] : nil
  }

  mutating func insert(_ id: JobID, at position: Int64) { entries.insert((position, id), at: index(of: position)) }

  mutating func remove(at position: Int64) {
    let index = index(of: position)
    guard index < entries.count, entries[index].position == position else { return }
    guard index == removedCount else {
      entries.remove(at: index)
      return
    }
    removedCount += 1
    if removedCount > 64, removedCount * 2 > entries.count {
      entries.removeFirst(removedCount)
      removedCount = 0
    }
  }

  /// Returns the index of the first entry at or after a position.
  private func index(of position: Int64) -> Int {
    var (low, high) = (removedCount, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].position < position { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
