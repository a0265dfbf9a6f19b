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
      let job = Self.job(number, &generator)
      source.jobs.append(job)
      naive.jobs.append(job)
      guard number % 5 == 0 else { continue }
      if Bool.random(using: &generator) {
        // Some of the running jobs end.
        let ended = Set(source.running.filter { _ in Bool.random(using: &generator) }.map(\.id))
        source.running.removeAll { ended.contains($0.id) }
        naive.running.removeAll { ended.contains($0.id) }
      }
      let count = Int.random(in: 1...8, using: &generator)
      let claim = JobClaim(
        queue: "default", count: count, allowsSuspect: Bool.random(using: &generator),
        freeSlotCount: Int.random(in: 0...count, using: &generator), kinds: [:])
      source.taken = []
      ClaimSelection.run(&source, claim, count: count)
      let expected = naive.run(claim, count: count)
      #expect(source.taken == expected)
      #expect(source.turns == naive.turns)
    }
  }

  private static func job(_ number: Int64, _ generator: inout SeededGenerator) -> ClaimCandidate {
    let isSuspect = Int.random(in: 0..<10, using: &generator) == 0
    let key = ["a", "b", "c", "d", nil, nil].randomElement(using: &generator) ?? nil
    return ClaimCandidate(
      id: JobID(rawValue: number), priority: [0, 0, 0, 4, -4].randomElement(using: &generator) ?? 0,
      position: number, isSuspect: isSuspect, key: key, slots: key.map { $0 == "a" ? 0 : $0 == "b" ? 1 : 3 })
  }
}

/// Jobs in a list, from which a claim takes some.
private struct ListedJobs: ClaimSource {
  typealias Failure = Never

  var jobs: [ClaimCandidate] = []
  var running: [ClaimCandidate] = []
  var taken: [ClaimCandidate] = []
  var turns: [Int: KeyTurn] = [:]
  private var passed: Set<JobID> = []
  private var last: ClaimCandidate?

  mutating func firstPlain(allowsSuspect: Bool) -> ClaimCandidate? {
    last = first { ($0.isSuspect && allowsSuspect || $0.key == nil && !$0.isSuspect) && !passed.contains($0.id) }
    return last
  }

  mutating func passPlain() { if let last { passed.insert(last.id) } }

  mutating func levels() -> [(level: Int, turn: KeyTurn)] {
    passed = []
    return Set(keyed.map(\.priority)).sorted(by: >).map { ($0, turns[$0] ?? KeyTurn()) }
  }

  func firstJob(ofKeyAfter key: String?, level: Int) -> ClaimCandidate? {
    let keys = keyed.filter { $0.priority == level }.compactMap(\.key).filter { $0 > key ?? "" }
    return keys.min().flatMap { firstJob(ofKey: $0, level: level) }
  }

  func firstJob(ofKey key: String, level: Int) -> ClaimCandidate? {
    first { !$0.isSuspect && $0.key == key && $0.priority == level }
  }

  func admits(_ job: ClaimCandidate) -> Bool { NaiveClaims.admits(job, jobs, running) }

  mutating func take(_ job: ClaimCandidate) {
    jobs.removeAll { $0.id == job.id }
    running.append(job)
    taken.append(job)
  }

  mutating func keep(_ turn: KeyTurn, level: Int) { turns[level] = turn }

  private var keyed: [ClaimCandidate] { jobs.filter { $0.key != nil && !$0.isSuspect } }

  private func first(_ isMeant: (ClaimCandidate) -> Bool) -> ClaimCandidate? {
    jobs.filter(isMeant).min { $0.comes(before: $1) }
  }
}

/// The rule, without regard to the time that it takes.
private struct NaiveClaims {
  var jobs: [ClaimCandidate] = []
  var running: [ClaimCandidate] = []
  var turns: [Int: KeyTurn] = [:]

  static func admits(_ job: ClaimCandidate, _ jobs: [ClaimCandidate], _ running: [ClaimCandidate]) -> Bool {
    guard let key = job.key, let slots = job.slots else { return true }
    return JobLimit.admits(slots: slots, runningCount: running.filter { $0.key == key }.count) {
      jobs.filter { $0.key == key }.map(\.position).min() == job.position
    }
  }

  mutating func run(_ claim: JobClaim, count: Int) -> [ClaimCandidate] {
    var taken: [ClaimCandidate] = []
    while taken.count < count {
      let allowsSuspect =
        claim.allowsSuspect && taken.count < claim.freeSlotCount && !taken.contains(where: \.isSuspect)
      let possible = jobs.filter { Self.admits($0, jobs, running) }
      let plain = possible.filter { $0.isSuspect ? allowsSuspect : $0.key == nil }.min { $0.comes(before: $1) }
      let keyed = possible.filter { $0.key != nil && !$0.isSuspect }
      // Of each priority and key, the first job; of those, the one whose turn it is.
      let level = keyed.map(\.priority).max()
      let turn = level.flatMap { turns[$0] } ?? KeyTurn()
      let firsts = keyed.filter { job in
        job.priority == level && !keyed.contains { $0.key == job.key && $0.priority == level && $0.comes(before: job) }
      }
      let order = firsts.sorted { $0.key ?? "" < $1.key ?? "" }
      let next = order.first { $0.key ?? "" > turn.key ?? "" } ?? order.first
      let job: ClaimCandidate
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
