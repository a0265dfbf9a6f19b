/// The keys of a level in the order of their turns, during a claim.
///
/// In the first round, the keys are found one by one in the source, starting after the key that was served last. Later
/// rounds serve only keys that were served in the first one. Therefore, a claim checks a key whose limit is reached
/// only once, and reads no key that it does not need.
struct KeyRing {
  private enum Phase {
    /// The keys after the one that was served last before the claim.
    case behind(String?)
    /// The keys up to that one.
    case upTo(String?)
    /// The keys that have been served in this claim.
    case again
  }

  let level: Int
  private(set) var turn: KeyTurn
  private let formerTurn: KeyTurn
  private var phase: Phase
  private var served: [String] = []
  private var index = 0
  /// The next job, and the number of jobs with keys that had been claimed when its limit was checked.
  private var current: (job: ClaimCandidate, checked: Int)?

  init(level: Int, turn: KeyTurn) {
    self.level = level
    (self.turn, formerTurn) = (turn, turn)
    phase = .behind(turn.key)
  }

  var hasChanged: Bool { turn != formerTurn }

  /// Returns the next job.
  ///
  /// - Parameters:
  ///   - source: The waiting jobs.
  ///   - keyedCount: The number of jobs with keys that have been claimed. Each of them can exhaust the limit of another
  ///     job.
  /// - Returns: The job, or nil if no limit permits one.
  /// - Throws: An error of the source.
  mutating func first<Source: ClaimSource>(
    _ source: inout Source, _ keyedCount: Int
  ) throws(Source.Failure) -> ClaimCandidate? {
    while true {
      if let current, current.checked == keyedCount { return current.job }
      var job = current?.job
      if job == nil { job = try find(&source) }
      guard let job else { return nil }
      if try source.admits(job) {
        current = (job, keyedCount)
        return job
      }
      current = nil
      if case .again = phase { served.remove(at: index) }
    }
  }

  /// Notes that the next job has been claimed.
  mutating func noteServed() {
    guard let key = current?.job.key else { return }
    current = nil
    turn = KeyTurn(key: key, isPlainNext: true)
    if case .again = phase { index += 1 } else { served.append(key) }
  }

  /// Notes that a plain job has been claimed before the next key.
  mutating func notePlainServed() { turn.isPlainNext = false }

  private mutating func find<Source: ClaimSource>(_ source: inout Source) throws(Source.Failure) -> ClaimCandidate? {
    while true {
      switch phase {
      case .behind(let last):
        if let job = try source.firstJob(ofKeyAfter: last, level: level) {
          phase = .behind(job.key)
          return job
        }
        phase = formerTurn.key == nil ? .again : .upTo(nil)
      case .upTo(let last):
        if let job = try source.firstJob(ofKeyAfter: last, level: level), let key = job.key, let end = formerTurn.key,
          !end.utf8.lexicographicallyPrecedes(key.utf8)
        {
          phase = .upTo(key)
          return job
        }
        phase = .again
      case .again:
        if served.isEmpty { return nil }
        if index >= served.count { index = 0 }
        if let job = try source.firstJob(ofKey: served[index], level: level) { return job }
        served.remove(at: index)
      }
    }
  }
}
