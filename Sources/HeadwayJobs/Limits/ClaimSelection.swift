/// Chooses the jobs of a claim, and their order.
///
/// Jobs of a higher priority are first. At the same priority, the keys are served in turn, one job each, starting
/// where the last claim stopped. A key that has no job, or whose limit is reached, misses its turn. If there are also
/// plain jobs, one of them follows each job with a key.
///
/// A job whose further limits permit no claim is skipped together with its group, so a later job of its key can
/// overtake it.
@_spi(JobStore) public enum ClaimSelection {
  /// Claims jobs of a source.
  ///
  /// - Parameters:
  ///   - source: The waiting jobs of the queue to claim from.
  ///   - claim: The claim of a worker for one queue.
  ///   - count: The maximum number of jobs, which can be less than the claim's own maximum.
  /// - Throws: An error of the source.
  public static func run<Source: ClaimSource>(
    _ source: inout Source, _ claim: JobClaim, count: Int
  ) throws(Source.Failure) {
    var limits = ClaimLimits()
    var rings: [KeyRing] = []
    for level in try source.levels() { rings.append(KeyRing(level)) }
    var (takenCount, keyedCount, allowsSuspect) = (0, 0, claim.allowsSuspect)
    while takenCount < count {
      let plain = try firstPlain(
        &source, &limits, allowsSuspect: allowsSuspect && takenCount < claim.freeSlotCount)
      var keyed: (ring: Int, job: ClaimCandidate)?
      for ring in rings.indices {
        guard let job = try rings[ring].first(&source, &limits, keyedCount) else { continue }
        if keyed.map({ job.comes(before: $0.job) }) ?? true { keyed = (ring, job) }
      }
      if let keyed, plain.map({ isKeyedFirst(keyed.job, rings[keyed.ring].turn, $0) }) ?? true {
        if try source.take(keyed.job) { try limits.take(keyed.job, in: &source) }
        rings[keyed.ring].noteServed()
        keyedCount += 1
      } else if let plain {
        if let keyed, keyed.job.priority == plain.priority { rings[keyed.ring].notePlainServed() }
        if plain.isSuspect { allowsSuspect = false }
        try source.passPlain()
        if try source.take(plain), plain.limit != nil { try limits.take(plain, in: &source) }
        if plain.limit != nil { keyedCount += 1 }
      } else {
        break
      }
      takenCount += 1
    }
    try limits.keepBuckets(in: &source)
    for ring in rings where ring.hasChanged { try source.keep(ring.turn, level: ring.level) }
  }

  private static func isKeyedFirst(_ keyed: ClaimCandidate, _ turn: KeyTurn, _ plain: ClaimCandidate) -> Bool {
    keyed.priority == plain.priority ? !turn.isPlainNext : keyed.priority > plain.priority
  }

  /// Returns the first plain job that has no limit, or whose limits permit a claim.
  private static func firstPlain<Source: ClaimSource>(
    _ source: inout Source, _ limits: inout ClaimLimits, allowsSuspect: Bool
  ) throws(Source.Failure) -> ClaimCandidate? {
    while let job = try source.firstPlain(allowsSuspect: allowsSuspect) {
      if job.limit == nil { return job }
      if try limits.refusal(of: job, in: &source) == nil { return job }
      try source.passPlain()
    }
    return nil
  }
}
