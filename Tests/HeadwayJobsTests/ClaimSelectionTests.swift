import Headway
import HeadwayTestKit
import Testing

@_spi(JobStore) @testable import HeadwayJobs

/// Which jobs a claim takes, compared with a search through all jobs.
@Suite struct ClaimSelectionTests {
  @Test("J83: random claims take the same jobs as a search through all of them", arguments: 1...40)
  func oracle(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var (source, naive) = (ListedJobs(), NaiveClaims())
    for number in 1...300 as ClosedRange<Int64> {
      let job = Self.job(number, maxWeight: nil, &generator)
      source.jobs.append(job)
      naive.jobs.append(job)
      guard number % 5 == 0 else { continue }
      Self.endSome(&source, &generator)
      naive.running = source.running
      let claim = Self.claim(&generator)
      source.taken = []
      ClaimSelection.run(&source, claim, count: claim.count)
      let expected = naive.run(claim, count: claim.count)
      #expect(source.taken.map(\.id) == expected.map(\.id))
      #expect(source.turns.filter { $0.value != KeyTurn() } == naive.turns.filter { $0.value != KeyTurn() })
    }
  }

  @Test(
    "J240, J241, J242: random claims of jobs with several limits exceed no limit, and leave no job that could run",
    arguments: 1...40,
    [1, 3])
  func severalLimits(seed: UInt64, maxWeight: Int) {
    var generator = SeededGenerator(seed: seed)
    var source = ListedJobs()
    for number in 1...300 as ClosedRange<Int64> {
      source.jobs.append(Self.job(number, maxWeight: maxWeight, &generator))
      guard number % 5 == 0 else { continue }
      Self.endSome(&source, &generator)
      let claim = Self.claim(&generator)
      source.taken = []
      ClaimSelection.run(&source, claim, count: claim.count)
      for limit in source.running.flatMap(\.limits) {
        #expect(source.weight(ofKey: limit.storedKey) <= max(1, limit.slots ?? 0), "seed \(seed), \(limit)")
      }
      // A job can wait for an earlier job of its key, or because units are kept for a heavy job.
      guard source.taken.count < claim.count, maxWeight == 1 else { continue }
      let waiting = source.jobs.filter { !$0.isSuspect }
      for job in waiting where source.admits(job) {
        let earlier = waiting.first { $0.key == job.key && $0.priority == job.priority && $0.id < job.id }
        #expect(job.key != nil && earlier != nil, "seed \(seed), job \(job.id)")
      }
    }
  }

  private static func endSome(_ source: inout ListedJobs, _ generator: inout SeededGenerator) {
    guard Bool.random(using: &generator) else { return }
    let ended = Set(source.running.filter { _ in Bool.random(using: &generator) }.map(\.id))
    source.running.removeAll { ended.contains($0.id) }
  }

  private static func claim(_ generator: inout SeededGenerator) -> JobClaim {
    let count = Int.random(in: 1...8, using: &generator)
    return JobClaim(
      queue: "default", count: count, allowsSuspect: Bool.random(using: &generator),
      freeSlotCount: Int.random(in: 0...count, using: &generator), kinds: [:])
  }

  private static func job(
    _ number: Int64, maxWeight: Int?, _ generator: inout SeededGenerator
  ) -> ListedJob {
    let isSuspect = Int.random(in: 0..<10, using: &generator) == 0
    let key = ["a", "b", "c", "d", nil, nil].randomElement(using: &generator) ?? nil
    var limits = key.map { [$0 == "a" ? JobLimit.serial(key: $0) : .concurrency($0 == "b" ? 1 : 3, key: $0)] } ?? []
    if let maxWeight, let first = limits.first {
      if first.key == "c" { limits[0].weight = Int.random(in: 1...maxWeight, using: &generator) }
      for further in ["d", "x", "y"] where further != first.key && Int.random(in: 0..<3, using: &generator) == 0 {
        let count = further == "d" ? 3 : 4
        limits.append(.concurrency(count, key: further, weight: Int.random(in: 1...maxWeight, using: &generator)))
      }
    }
    return ListedJob(
      id: JobID(rawValue: number), priority: [0, 0, 0, 4, -4].randomElement(using: &generator) ?? 0,
      isSuspect: isSuspect, limits: limits)
  }

  private static func claim(_ count: Int = 1, isExhaustive: Bool = false) -> JobClaim {
    JobClaim(queue: "default", count: count, allowsSuspect: false, kinds: [:], isExhaustive: isExhaustive)
  }

  @Test("J242: if an exhausted limit keeps 10,000 keys waiting, a claim reads few jobs and finds jobs without it")
  func sharedLimit() {
    var source = ListedJobs()
    let shared = JobLimit.concurrency(2, key: "shared")
    for number in 1...2 as ClosedRange<Int64> {
      source.running.append(ListedJob(id: JobID(rawValue: number), limits: [shared]))
    }
    for number in 3...10_002 as ClosedRange<Int64> {
      let own = JobLimit.concurrency(5, key: "customer \(number)")
      source.jobs.append(ListedJob(id: JobID(rawValue: number), limits: [own, shared]))
    }
    ClaimSelection.run(&source, Self.claim(8), count: 8)
    #expect(source.taken.isEmpty)
    #expect(source.readCount < 8, "\(source.readCount)")
    // The key of a waiting job has another job, without the shared limit.
    let other = ListedJob(id: JobID(rawValue: 20_000), limits: [.concurrency(5, key: "customer 9000")])
    source.jobs.append(other)
    source.readCount = 0
    ClaimSelection.run(&source, Self.claim(8), count: 8)
    #expect(source.taken.map(\.id) == [other.id])
    #expect(source.readCount < 16, "\(source.readCount)")
  }

  @Test("J242: if there are more sets of limits than a claim reads, each set is read after a few claims")
  func manyGroups() {
    var source = ListedJobs()
    let count = 3 * ClaimLevel.maxGroupCount
    for number in 1...count {
      let limit = JobLimit.concurrency(1, key: "resource \(number)")
      source.running.append(ListedJob(id: JobID(rawValue: Int64(number)), limits: [limit]))
      source.jobs.append(
        ListedJob(id: JobID(rawValue: Int64(1_000 + number)), limits: [.concurrency(900, key: "all"), limit]))
    }
    for ended in [1, Int64(count / 2), Int64(count)] {
      source.running.removeAll { $0.id.rawValue == ended }
      source.taken = []
      var claimCount = 0
      while source.taken.isEmpty, claimCount < 9 {
        source.readCount = 0
        ClaimSelection.run(&source, Self.claim(), count: 1)
        #expect(source.readCount < 4 * ClaimLevel.maxGroupCount, "\(source.readCount)")
        claimCount += 1
      }
      #expect(source.taken.map(\.id.rawValue) == [1_000 + ended])
      #expect(claimCount <= 4, "\(claimCount)")
    }
    source.running.removeAll { $0.id.rawValue == 5 }
    source.taken = []
    let claim = Self.claim(isExhaustive: true)
    source.groupLimit = claim.groupLimit
    ClaimSelection.run(&source, claim, count: 1)
    #expect(source.taken.map(\.id.rawValue) == [1_005])
  }

  @Test("J243: units are kept for a heavy job, so a stream of lighter jobs of other keys does not keep it waiting")
  func heavyJob() {
    var source = ListedJobs()
    func light(_ number: Int64) -> ListedJob {
      ListedJob(
        id: JobID(rawValue: number),
        limits: [.concurrency(99, key: "customer \(number % 4)"), .concurrency(10, key: "shared")])
    }
    for number in 1...10 as ClosedRange<Int64> { source.running.append(light(number)) }
    let heavy = ListedJob(
      id: JobID(rawValue: 999), limits: [.concurrency(1, key: "heavy"), .concurrency(10, key: "shared", weight: 8)])
    source.jobs.append(heavy)
    var number: Int64 = 10
    var endCount = 0
    while !source.taken.contains(where: { $0.id == heavy.id }), endCount < 40 {
      for _ in 0..<20 {
        number += 1
        source.jobs.append(light(number))
      }
      source.running.removeFirst()
      endCount += 1
      ClaimSelection.run(&source, Self.claim(), count: 1)
      #expect(source.weight(ofKey: JobLimit.concurrency(10, key: "shared").storedKey) <= 10)
    }
    // A claim finds the job after a round of four other keys at the latest. Then eight jobs must end.
    #expect(endCount <= 14, "\(endCount)")
    #expect(source.turns[0]?.heavyJobs == [])
  }

  @Test("J242: if many keys have too few units for their heavy jobs, a claim reads few of them")
  func manyHeavyJobs() {
    var source = ListedJobs()
    for number in 1...300 as ClosedRange<Int64> {
      let limit = JobLimit.concurrency(3, key: "customer \(number)", weight: 2)
      source.running.append(ListedJob(id: JobID(rawValue: number), limits: [limit]))
      source.jobs.append(ListedJob(id: JobID(rawValue: 1_000 + number), limits: [limit]))
    }
    ClaimSelection.run(&source, Self.claim(8), count: 8)
    #expect(source.taken.isEmpty)
    #expect(source.readCount < 80, "\(source.readCount)")
  }

  @Test("J242: the next job of a key that was served is found without reading all sets of limits again")
  func groupsOfOneKey() {
    var source = ListedJobs()
    for number in 1...50 {
      source.jobs.append(
        ListedJob(
          id: JobID(rawValue: Int64(number)),
          limits: [.concurrency(99, key: "customer"), .concurrency(1, key: "resource \(number)")]))
    }
    ClaimSelection.run(&source, Self.claim(40), count: 40)
    #expect(source.taken.map(\.id.rawValue) == Array(1...40))
    #expect(source.readCount < 250, "\(source.readCount)")
  }

  @Test("J243: nothing is kept for a heavy job that another limit also blocks")
  func blockedHeavyJob() {
    var source = ListedJobs()
    let shared = { JobLimit.concurrency(10, key: "shared", weight: $0) }
    source.running = [
      ListedJob(id: JobID(rawValue: 1), limits: [.concurrency(1, key: "full")]),
      ListedJob(id: JobID(rawValue: 2), limits: [shared(5)]),
    ]
    source.jobs = [
      ListedJob(id: JobID(rawValue: 3), limits: [.concurrency(1, key: "full"), shared(8)]),
      ListedJob(id: JobID(rawValue: 4), limits: [.concurrency(1, key: "other"), shared(1)]),
    ]
    ClaimSelection.run(&source, Self.claim(9), count: 9)
    #expect(source.taken.map(\.id.rawValue) == [4])
    #expect(source.turns[0]?.heavyJobs == [])
  }

  @Test("J243: a heavy job waits at the head of its key, and lighter jobs of the key follow it")
  func heavyHead() {
    var source = ListedJobs()
    let limit = { JobLimit.concurrency(4, key: "key", weight: $0) }
    source.running = [ListedJob(id: JobID(rawValue: 1), limits: [limit(2)])]
    source.jobs = [
      ListedJob(id: JobID(rawValue: 2), limits: [limit(3)]), ListedJob(id: JobID(rawValue: 3), limits: [limit(1)]),
    ]
    ClaimSelection.run(&source, Self.claim(9), count: 9)
    #expect(source.taken.isEmpty)
    source.running = []
    ClaimSelection.run(&source, Self.claim(9), count: 9)
    #expect(source.taken.map(\.id.rawValue) == [2, 3])
  }
}

/// A job with all its limits.
private struct ListedJob {
  var id: JobID
  var priority = 0
  var isSuspect = false
  var limits: [JobLimit] = []

  var key: String? { limits.first?.storedKey }

  var group: String {
    var settings = JobSettings()
    settings.limits = limits
    return settings.furtherLimits ?? JobSettings.noFurtherLimits
  }

  var candidate: ClaimCandidate {
    ClaimCandidate(
      id: id, priority: priority, position: id.rawValue, isSuspect: isSuspect,
      limit: limits.first.map { ClaimLimit($0) }, group: group)
  }

  func comes(before other: ListedJob) -> Bool {
    priority == other.priority ? id < other.id : priority > other.priority
  }

  func weight(ofKey key: String) -> Int { limits.first { $0.storedKey == key }?.weight ?? 0 }
}

/// A list of jobs that a claim takes some of.
private struct ListedJobs: ClaimSource {
  typealias Failure = Never

  var jobs: [ListedJob] = []
  var running: [ListedJob] = []
  var taken: [ListedJob] = []
  var turns: [Int: KeyTurn] = [:]
  /// The number of jobs with keys that were read.
  var readCount = 0
  /// The number of groups that the next claim reads.
  var groupLimit = ClaimLevel.maxGroupCount
  private var passed: Set<JobID> = []
  private var last: ListedJob?
  /// The first job of each level, group and key during a claim.
  private var firsts: [Int: [String: [String: ListedJob]]] = [:]
  private var keys: [Int: [String: [String]]] = [:]

  var now: StoreTime { StoreTime(microseconds: 0) }

  mutating func firstPlain(allowsSuspect: Bool) -> ClaimCandidate? {
    last = jobs.filter {
      ($0.isSuspect && allowsSuspect || $0.key == nil && !$0.isSuspect) && !passed.contains($0.id)
    }.min { $0.comes(before: $1) }
    return last?.candidate
  }

  mutating func passPlain() { if let last { passed.insert(last.id) } }

  mutating func levels() -> [ClaimLevel] {
    (passed, firsts, keys) = ([], [:], [:])
    for job in jobs {
      guard let key = job.key, !job.isSuspect else { continue }
      let group = job.group
      if firsts[job.priority]?[group]?[key].map({ $0.id < job.id }) ?? false { continue }
      firsts[job.priority, default: [:]][group, default: [:]][key] = job
    }
    return firsts.keys.sorted(by: >).map { level in
      let groups = Self.sorted((firsts[level] ?? [:]).keys)
      for group in groups { keys[level, default: [:]][group] = Self.sorted((firsts[level]?[group] ?? [:]).keys) }
      let (turn, limit) = (turns[level] ?? KeyTurn(), groupLimit)
      let next = ClaimLevel.groups(after: turn.lastGroup, limit: limit) { last in groups.first { last < $0 } }
      return ClaimLevel(level: level, turn: turn, groups: next, limit: limit)
    }
  }

  private static func sorted(_ names: some Collection<String>) -> [String] {
    names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  mutating func firstJob(
    ofKeyAfter key: String?, in group: String, level: Int, skipping skipped: SkippedKeys
  ) -> ClaimCandidate? {
    let keys = keys[level]?[group] ?? []
    for next in keys where key.map({ $0.utf8.lexicographicallyPrecedes(next.utf8) }) ?? true {
      if let first = firsts[level]?[group]?[next], canSkip(first, skipped) { continue }
      if let job = firstJob(ofKey: next, in: group, level: level) { return job }
    }
    readCount += 1
    return nil
  }

  /// Returns whether the first limit of a key's first job is full.
  private func canSkip(_ job: ListedJob, _ skipped: SkippedKeys) -> Bool {
    guard skipped != .none, let limit = job.limits.first, let slots = limit.slots, slots > 0,
      skipped == .full || limit.weight == 1, !taken.contains(where: { $0.id == job.id })
    else { return false }
    return weight(ofKey: limit.storedKey) + limit.weight > slots
  }

  mutating func firstJob(ofKey key: String, in group: String, level: Int) -> ClaimCandidate? {
    guard let first = firsts[level]?[group]?[key] else { return nil }
    readCount += 1
    if !taken.contains(where: { $0.id == first.id }) { return first.candidate }
    return jobs.first { !$0.isSuspect && $0.priority == level && $0.key == key && $0.group == group }?.candidate
  }

  func heavyJob(_ id: JobID, level: Int) -> HeavyJob {
    jobs.first { $0.id == id && !$0.isSuspect && $0.priority == level }.map { .waiting($0.candidate) } ?? .gone
  }

  mutating func take(_ job: ClaimCandidate) -> Bool {
    guard let index = jobs.firstIndex(where: { $0.id == job.id }) else { return false }
    let job = jobs.remove(at: index)
    running.append(job)
    taken.append(job)
    return true
  }

  mutating func keep(_ turn: KeyTurn, level: Int) { turns[level] = turn }

  func rate(of job: ClaimCandidate) -> JobRate? { nil }

  func weight(ofKey key: String) -> Int { running.reduce(0) { $0 + $1.weight(ofKey: key) } }

  func runningWeight(ofKey key: String) -> Int { weight(ofKey: key) }

  /// Returns whether all limits of a job permit a claim.
  func admits(_ job: ListedJob) -> Bool {
    job.limits.allSatisfy { limit in
      let used = weight(ofKey: limit.storedKey)
      guard let slots = limit.slots, slots > 0 else {
        return used == 0 && firstJob(ofSerialKey: limit.storedKey) == job.id
      }
      return used + limit.weight <= slots
    }
  }

  func firstJob(ofSerialKey key: String) -> JobID? { (jobs + running).filter { $0.key == key }.map(\.id).min() }

  func bucket(ofKey key: String) -> RateBucket? { nil }

  func keep(_ bucket: RateBucket, ofKey key: String, isAwaited: Bool) {}
}

/// The rule for jobs with at most one limit, without regard to the time that it takes.
private struct NaiveClaims {
  var jobs: [ListedJob] = []
  var running: [ListedJob] = []
  var turns: [Int: KeyTurn] = [:]

  private func admits(_ job: ListedJob) -> Bool {
    guard let limit = job.limits.first, let slots = limit.slots else { return true }
    let used = running.count { $0.key == job.key }
    guard slots == 0 else { return used < slots }
    return used == 0 && jobs.filter { $0.key == job.key }.map(\.id).min() == job.id
  }

  mutating func run(_ claim: JobClaim, count: Int) -> [ListedJob] {
    var taken: [ListedJob] = []
    while taken.count < count {
      let allowsSuspect =
        claim.allowsSuspect && taken.count < claim.freeSlotCount && !taken.contains(where: \.isSuspect)
      let possible = jobs.filter { admits($0) }
      let plain = possible.filter { $0.isSuspect ? allowsSuspect : $0.key == nil }.min { $0.comes(before: $1) }
      let keyed = possible.filter { $0.key != nil && !$0.isSuspect }
      // Of each priority and key, the first job; among these jobs, the job whose turn it is.
      let level = keyed.map(\.priority).max()
      let turn = level.flatMap { turns[$0] } ?? KeyTurn()
      let firsts = keyed.filter { job in
        job.priority == level && !keyed.contains { $0.key == job.key && $0.priority == level && $0.comes(before: job) }
      }
      let order = firsts.sorted { $0.key ?? "" < $1.key ?? "" }
      let next = order.first { $0.key ?? "" > turn.key ?? "" } ?? order.first
      let job: ListedJob
      if let next,
        plain.map({ $0.priority < next.priority || $0.priority == next.priority && !turn.isPlainNext }) ?? true
      {
        job = next
        turns[next.priority] = KeyTurn(key: next.key, isPlainNext: true)
      } else if let plain {
        job = plain
        if let next, next.priority == plain.priority { turns[next.priority]?.isPlainNext = false }
      } else {
        break
      }
      jobs.removeAll { $0.id == job.id }
      running.append(job)
      taken.append(job)
    }
    return taken
  }
}
