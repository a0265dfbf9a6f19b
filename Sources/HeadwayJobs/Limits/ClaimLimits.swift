/// The limits of the jobs that a claim examines: what is in use, and what is kept for heavy jobs.
///
/// A claimed job takes the units and tokens of all its limits together. A job that is not claimed takes none.
///
/// During a claim, jobs only begin to run, and tokens are only taken. Therefore, a limit that has rejected a job
/// rejects the job until the claim ends. A group with such a limit is *closed*: the claim no longer reads jobs of the
/// group. If the limit only keeps its units for a heavy job, the group is closed for the priority of the rejected job.
///
/// A job is *heavy* if it takes several units or tokens, and fewer are available. As soon as a claim has rejected a
/// heavy job, the claim counts the units of the job as taken, so that lighter jobs of the same or a lower priority
/// don't take them.
///
/// See `Docs/decisions/0054-several-limits.md`.
struct ClaimLimits {
  /// Why a job can't be claimed.
  struct Refusal {
    /// Whether a limit after the first one rejects the job, and therefore all jobs of the group and priority.
    var isOfGroup = false
    /// Whether the job is heavy, and units or tokens are now kept for it.
    var isHeavy = true
  }

  /// A limit, with its rate if it has one.
  private struct Part {
    var limit: ClaimLimit
    var rate: JobRate?
  }

  /// The units or tokens that are kept for a heavy job.
  private struct Reserve {
    let weight: Int
    let priority: Int
  }

  /// The groups whose jobs can't be claimed.
  private(set) var closedGroups: Set<String> = []
  /// The sums of the weights of running jobs by key, with the jobs of this claim.
  private var running: [String: Int] = [:]
  private var buckets: [String: RateBucket] = [:]
  /// The keys of the buckets to write.
  private var changedBuckets: Set<String> = []
  private var reserves: [String: [Reserve]] = [:]
  /// The keys that have rejected a heavy job, with the highest priority of these jobs.
  private var heavyKeys: [String: Int] = [:]
  /// The jobs that were rejected, which remain rejected.
  private var refusals: [JobID: Refusal] = [:]
  private var groups: [String: [Part]] = [:]

  /// Returns why a job can't be claimed now, or nil if it can.
  mutating func refusal<Source: ClaimSource>(
    of job: ClaimCandidate, in source: inout Source
  ) throws(Source.Failure) -> Refusal? {
    if let refusal = refusals[job.id] { return refusal }
    let parts = try parts(of: job, in: &source)
    var (refusal, refusing) = (Refusal?.none, [String]())
    var (examined, waitsForJobs) = ([String: RateBucket](), false)
    for (index, part) in parts.enumerated() {
      let answer = try answer(of: part, to: job, in: &source, &examined)
      guard answer != .admits else { continue }
      refusal = refusal ?? Refusal()
      if part.limit.slots != nil { waitsForJobs = true }
      refusing.append(part.limit.key)
      if index > 0 {
        refusal?.isOfGroup = true
        if answer == .refuses { closedGroups.insert(job.group) }
      }
      let isKept = heavyKeys[part.limit.key].map { $0 >= job.priority } ?? false
      if answer == .keeps || part.limit.weight <= 1 || isKept { refusal?.isHeavy = false }
    }
    refusals[job.id] = refusal
    // A job that waits for running jobs is examined again when they end, so the time of its tokens does not matter.
    // Stores skip such jobs if they can.
    if !waitsForJobs {
      for (key, bucket) in examined where bucket != buckets[key] {
        buckets[key] = bucket
        changedBuckets.insert(key)
      }
    }
    // If another limit also rejects the job, nothing is kept for the job, because it might wait for a long time.
    guard let refusal, refusal.isHeavy else { return refusal }
    for key in refusing { heavyKeys[key] = max(heavyKeys[key] ?? job.priority, job.priority) }
    for part in parts {
      reserves[part.limit.key, default: []].append(Reserve(weight: part.limit.weight, priority: job.priority))
    }
    return refusal
  }

  /// Takes the units and tokens of a job that has been claimed.
  mutating func take<Source: ClaimSource>(
    _ job: ClaimCandidate, in source: inout Source
  ) throws(Source.Failure) {
    for part in try parts(of: job, in: &source) {
      let (key, weight) = (part.limit.key, part.limit.weight)
      if part.limit.slots != nil {
        running[key] = try runningWeight(key, in: &source) + weight
      } else if let rate = part.rate {
        var bucket = try bucket(key, in: &source)
        bucket.take(weight, rate, at: source.now)
        buckets[key] = bucket
        changedBuckets.insert(key)
      }
    }
  }

  /// Stores the buckets that have changed.
  func keepBuckets<Source: ClaimSource>(in source: inout Source) throws(Source.Failure) {
    for key in changedBuckets.sorted() {
      if let bucket = buckets[key] { try source.keep(bucket, ofKey: key, isAwaited: bucket.nextTime != nil) }
    }
  }

  private mutating func parts<Source: ClaimSource>(
    of job: ClaimCandidate, in source: inout Source
  ) throws(Source.Failure) -> [Part] {
    guard let first = job.limit else { return [] }
    let rate = first.slots == nil ? try source.rate(of: job) : nil
    if job.group == JobSettings.noFurtherLimits { return [Part(limit: first, rate: rate)] }
    let further =
      groups[job.group]
      ?? JobSettings.furtherLimits(job.group).map { Part(limit: ClaimLimit($0), rate: $0.jobRate) }
    groups[job.group] = further
    return [Part(limit: first, rate: rate)] + further
  }

  /// How a limit decides about a job.
  private enum Answer {
    case admits
    /// The remaining units or tokens are kept for a heavy job.
    case keeps
    case refuses
  }

  private mutating func answer<Source: ClaimSource>(
    of part: Part, to job: ClaimCandidate, in source: inout Source, _ examined: inout [String: RateBucket]
  ) throws(Source.Failure) -> Answer {
    let (key, weight) = (part.limit.key, part.limit.weight)
    let kept = (reserves[key] ?? []).reduce(0) { $0 + ($1.priority >= job.priority ? $1.weight : 0) }
    guard let slots = part.limit.slots else {
      // A job whose rate can't be read is damaged and fails when it is claimed.
      guard let rate = part.rate else { return .admits }
      var bucket = try bucket(key, in: &source)
      let hasTokens = bucket.hasTokens(weight, rate, at: source.now)
      examined[key] = bucket
      guard hasTokens else { return .refuses }
      return kept == 0 || bucket.hasTokens(weight + kept, rate, at: source.now) ? .admits : .keeps
    }
    let used = try runningWeight(key, in: &source)
    guard slots == 0 else { return used + weight > slots ? .refuses : used + weight + kept > slots ? .keeps : .admits }
    guard used == 0 else { return .refuses }
    return try source.firstJob(ofSerialKey: key) == job.id ? .admits : .refuses
  }

  private mutating func runningWeight<Source: ClaimSource>(
    _ key: String, in source: inout Source
  ) throws(Source.Failure) -> Int {
    if let weight = running[key] { return weight }
    let weight = try source.runningWeight(ofKey: key)
    running[key] = weight
    return weight
  }

  private mutating func bucket<Source: ClaimSource>(
    _ key: String, in source: inout Source
  ) throws(Source.Failure) -> RateBucket {
    if let bucket = buckets[key] { return bucket }
    let bucket = try source.bucket(ofKey: key) ?? RateBucket(fullTime: source.now)
    buckets[key] = bucket
    return bucket
  }
}
