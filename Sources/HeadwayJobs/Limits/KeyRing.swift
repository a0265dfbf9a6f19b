/// The keys of a level, in turn order, during a claim.
///
/// In the first round, the keys are found one by one in the source, starting after the key that was served last. Later
/// rounds serve only keys that were served in the first round. Therefore, a claim checks a key whose limit is reached
/// only once, and reads no key that it does not need.
///
/// The jobs of each group have their own order of keys in the source. The ring merges the groups that are not closed.
struct KeyRing {
  private enum Phase {
    /// The heavy jobs whose limits have kept units or tokens for them since earlier claims.
    case heavy(ArraySlice<JobID>)
    /// The keys after the key that was served last before the claim.
    case behind(String?)
    /// The keys up to the key that was served last before the claim.
    case upTo(String?)
    /// The keys that have been served in this claim.
    case again
  }

  let level: Int
  private(set) var turn: KeyTurn
  private let formerTurn: KeyTurn
  private let groups: [String]
  private var phase: Phase
  /// The first job of each group that follows the key before the current key, or nil if the group has none.
  private var heads: [String: ClaimCandidate?] = [:]
  /// The first jobs of the current key in groups that have not been tried yet.
  private var alternatives: [ClaimCandidate] = []
  private var served: [String] = []
  /// The group of the last job of each served key, and the first jobs of the key in groups that were not tried.
  private var rest: [String: (group: String, jobs: [ClaimCandidate])] = [:]
  private var index = 0
  /// The groups whose jobs of the level can't be claimed.
  private var closedGroups: Set<String> = []
  /// The number of keys in a row whose jobs were rejected.
  private var refusalCount = 0
  /// The next job, and the number of jobs with keys that had been claimed when its limits were checked.
  private var current: (job: ClaimCandidate, checked: Int)?
  /// Whether the last job that was found comes before its turn because units or tokens were kept for it.
  private var isEarly = false
  /// The heavy job that this claim keeps units or tokens for.
  private var heavyJob: JobID?
  /// The heavy jobs of the turn that no longer wait.
  ///
  /// The ring forgets them when it finds another job. Some stores read no level without jobs that the worker can run.
  private var goneHeavyJobs: [JobID] = []

  /// After this many refusals, the source searches for a key with a free unit, which can take one request.
  private static let maxRefusalCount = 3
  /// After this many refusals, heavy jobs of full keys are no longer found.
  private static let maxHeavyRefusalCount = 64

  init(_ level: ClaimLevel) {
    self.level = level.level
    groups = level.groups
    (turn, formerTurn) = (level.turn, level.turn)
    turn.lastGroup = level.lastGroup
    phase = turn.heavyJobs.isEmpty ? .behind(turn.key) : .heavy(turn.heavyJobs[...])
  }

  var hasChanged: Bool { turn != formerTurn }

  /// Returns the next job.
  ///
  /// - Parameters:
  ///   - source: The waiting jobs of the queue to claim from.
  ///   - limits: The limits and what the claim has used of them.
  ///   - keyedCount: The number of jobs with keys that have been claimed. Each of them can exhaust the limit of another
  ///     job.
  /// - Returns: The job, or nil if no limit permits one.
  /// - Throws: An error of the source.
  mutating func first<Source: ClaimSource>(
    _ source: inout Source, _ limits: inout ClaimLimits, _ keyedCount: Int
  ) throws(Source.Failure) -> ClaimCandidate? {
    if let current, current.checked == keyedCount { return current.job }
    var next = current?.job
    current = nil
    while true {
      if next == nil { next = try find(&source, limits) }
      guard let job = next else { return nil }
      guard let refusal = try limits.refusal(of: job, in: &source) else {
        refusalCount = 0
        current = (job, keyedCount)
        return job
      }
      note(refusal, of: job)
      if refusal.isOfGroup { closedGroups.insert(job.group) }
      next = refusal.isOfGroup ? takeAlternative(limits) : nil
      guard next == nil else { continue }
      refusalCount += 1
      if case .again = phase, index < served.count, served[index] == job.key { served.remove(at: index) }
    }
  }

  /// Remembers a heavy job until it is served, so that the next claims keep units or tokens for it.
  private mutating func note(_ refusal: ClaimLimits.Refusal, of job: ClaimCandidate) {
    if !refusal.isHeavy {
      forgetHeavy(job)
    } else if heavyJob == nil {
      heavyJob = job.id
      turn.noteHeavy(job.id)
    }
  }

  private mutating func forgetHeavy(_ job: ClaimCandidate) {
    turn.forgetHeavy(job.id)
    if heavyJob == job.id { heavyJob = nil }
  }

  /// Notes that the next job has been claimed.
  mutating func noteServed() {
    guard let job = current?.job, let key = job.key else { return }
    current = nil
    turn.isPlainNext = true
    forgetHeavy(job)
    // The turns of the keys don't change.
    guard !isEarly else { return }
    turn.key = key
    rest[key] = (job.group, alternatives)
    if case .again = phase { index += 1 } else { served.append(key) }
  }

  /// Notes that a plain job has been claimed before the next key.
  mutating func notePlainServed() { turn.isPlainNext = false }

  // MARK: Finding keys

  private mutating func find<Source: ClaimSource>(
    _ source: inout Source, _ limits: ClaimLimits
  ) throws(Source.Failure) -> ClaimCandidate? {
    (isEarly, alternatives) = (false, [])
    while true {
      switch phase {
      case .heavy(let ids):
        phase = .behind(turn.key)
        guard let id = ids.first else { continue }
        switch try source.heavyJob(id, level: level) {
        case .waiting(let job):
          (heavyJob, isEarly) = (id, true)
          return job
        case .gone: goneHeavyJobs.append(id)
        case .unavailable: break
        }
        phase = .heavy(ids.dropFirst())
      case .behind(let last):
        if let key = try firstKey(after: last, &source, limits) {
          phase = .behind(key)
          return takeAlternative(limits)
        }
        phase = formerTurn.key == nil ? .again : .upTo(nil)
        heads = [:]
      case .upTo(let last):
        if let key = try firstKey(after: last, &source, limits), let end = formerTurn.key,
          !end.utf8.lexicographicallyPrecedes(key.utf8)
        {
          phase = .upTo(key)
          return takeAlternative(limits)
        }
        (phase, alternatives) = (.again, [])
      case .again:
        if served.isEmpty { return nil }
        if index >= served.count { index = 0 }
        let key = served[index]
        alternatives = rest[key]?.jobs ?? []
        if let group = rest[key]?.group, isOpen(group, limits),
          let job = try source.firstJob(ofKey: key, in: group, level: level)
        {
          alternatives.append(job)
        }
        if let job = takeAlternative(limits) { return job }
        served.remove(at: index)
      }
    }
  }

  /// Finds the key that follows another key, and its jobs in the groups that are not closed.
  private mutating func firstKey<Source: ClaimSource>(
    after key: String?, _ source: inout Source, _ limits: ClaimLimits
  ) throws(Source.Failure) -> String? {
    alternatives = []
    var first: ClaimCandidate?
    for group in groups where isOpen(group, limits) {
      let head: ClaimCandidate?
      if let known = heads[group], known?.key.map({ Self.isKey($0, after: key) }) ?? true {
        head = known
      } else {
        head = try source.firstJob(
          ofKeyAfter: key, in: group, level: level, skipping: skippedKeys)
        heads[group] = .some(head)
      }
      guard let head else { continue }
      alternatives.append(head)
      if first.map({ head.comesByKey(before: $0) }) ?? true { first = head }
    }
    guard let found = first?.key else { return nil }
    for id in goneHeavyJobs { turn.forgetHeavy(id) }
    goneHeavyJobs = []
    alternatives.removeAll { $0.key.map { !$0.utf8.elementsEqual(found.utf8) } ?? true }
    return found
  }

  private var skippedKeys: SkippedKeys {
    switch refusalCount {
    case ..<Self.maxRefusalCount: .none
    case ..<Self.maxHeavyRefusalCount: .fullForLightJobs
    default: .full
    }
  }

  private func isOpen(_ group: String, _ limits: ClaimLimits) -> Bool {
    !closedGroups.contains(group) && !limits.closedGroups.contains(group)
  }

  private static func isKey(_ key: String, after other: String?) -> Bool {
    other.map { $0.utf8.lexicographicallyPrecedes(key.utf8) } ?? true
  }

  /// Removes and returns the first job of the current key in a group that is not closed.
  private mutating func takeAlternative(_ limits: ClaimLimits) -> ClaimCandidate? {
    let open = alternatives.indices.filter { isOpen(alternatives[$0].group, limits) }
    guard let first = open.min(by: { alternatives[$0].position < alternatives[$1].position }) else { return nil }
    return alternatives.remove(at: first)
  }
}
