/// A selection of jobs: those that meet all conditions that are not nil.
public struct JobFilter: Hashable, Codable, Sendable {
  /// The IDs of the selected jobs.
  public var ids: [JobID]?
  /// The states of the jobs.
  public var states: Set<JobState>?
  /// The queues of the jobs.
  public var queues: Set<String>?
  /// The kinds of the jobs.
  public var kinds: Set<JobKind>?
  /// A tag of the jobs.
  public var tag: String?
  /// The job whose failure or cancellation caused the jobs to be cancelled.
  public var culprit: JobID?
  /// A string that the labels of the jobs contain (case-sensitive).
  public var label: String?
  /// A string that the payloads of the jobs contain (case-sensitive).
  ///
  /// The bytes of the text in UTF-8 are compared with the stored bytes. In the JSON of a `Codable` job, the members are
  /// sorted by name, and there are no spaces between them. Such a search reads the payloads of all jobs that meet the
  /// other conditions.
  public var payload: String?
  /// The earliest time when the jobs were stored.
  public var since: StoreTime?
  /// The latest time when the jobs were stored.
  public var until: StoreTime?
  /// The earliest time when the jobs ended.
  ///
  /// Jobs that have not ended don't meet this condition, or ``endedUntil``.
  public var endedSince: StoreTime?
  /// The latest time when the jobs ended.
  public var endedUntil: StoreTime?
  /// The group of the last error of the jobs.
  ///
  /// Jobs that have succeeded have no such group: see ``JobRecord/errorGroup``.
  public var errorGroup: JobErrorGroup.ID?

  /// Creates a selection.
  ///
  /// - Parameters:
  ///   - ids: The IDs of the selected jobs.
  ///   - states: The states of the jobs.
  ///   - queues: The queues of the jobs.
  ///   - kinds: The kinds of the jobs.
  ///   - tag: A tag of the jobs.
  ///   - culprit: The job whose failure or cancellation caused the jobs to be cancelled.
  ///   - label: A string that the labels of the jobs contain (case-sensitive).
  ///   - payload: A string that the payloads of the jobs contain (case-sensitive).
  ///   - since: The earliest time when the jobs were stored.
  ///   - until: The latest time when the jobs were stored.
  ///   - endedSince: The earliest time when the jobs ended.
  ///   - endedUntil: The latest time when the jobs ended.
  ///   - errorGroup: The group of the last error of the jobs.
  public init(
    ids: [JobID]? = nil, states: Set<JobState>? = nil, queues: Set<String>? = nil, kinds: Set<JobKind>? = nil,
    tag: String? = nil, culprit: JobID? = nil, label: String? = nil, payload: String? = nil, since: StoreTime? = nil,
    until: StoreTime? = nil, endedSince: StoreTime? = nil, endedUntil: StoreTime? = nil,
    errorGroup: JobErrorGroup.ID? = nil
  ) {
    self.ids = ids
    self.states = states
    self.queues = queues
    self.kinds = kinds
    self.tag = tag
    self.culprit = culprit
    self.label = label
    self.payload = payload
    self.since = since
    self.until = until
    self.endedSince = endedSince
    self.endedUntil = endedUntil
    self.errorGroup = errorGroup
  }

  /// All jobs.
  public static let all = JobFilter()

  /// Selects one job.
  ///
  /// - Parameter id: The ID of the job.
  /// - Returns: A filter for this job.
  public static func id(_ id: JobID) -> JobFilter { JobFilter(ids: [id]) }

  /// Returns whether a job meets all conditions.
  ///
  /// - Parameter job: The job to test.
  /// - Returns: Whether the selection contains it.
  public func contains(_ job: JobRecord) -> Bool {
    if let ids, !ids.contains(job.id) { return false }
    if let states, !states.contains(job.state) { return false }
    if let queues, !queues.contains(job.queue) { return false }
    if let kinds, !kinds.contains(job.kind) { return false }
    if let culprit, job.reason?.culprit != culprit { return false }
    if let since, job.enqueuedTime < since { return false }
    if let until, job.enqueuedTime > until { return false }
    if hasEndTime {
      guard let finished = job.finishedTime else { return false }
      if let endedSince, finished < endedSince { return false }
      if let endedUntil, finished > endedUntil { return false }
    }
    if let errorGroup, job.errorGroup != errorGroup { return false }
    if let payload, !job.payload.bytes.contains(payload.utf8) { return false }
    return matchesText(job.settings)
  }

  /// Whether the filter has a condition for the time when jobs ended.
  @_spi(JobStore) public var hasEndTime: Bool { endedSince != nil || endedUntil != nil }

  /// Whether only jobs that have ended can meet the conditions, apart from the condition for states.
  @_spi(JobStore) public var requiresEnd: Bool { culprit != nil || hasEndTime }

  /// Returns whether the tags and the label of a job meet the conditions for them.
  ///
  /// - Parameter settings: The options of the job.
  /// - Returns: Whether the tags and the label meet the conditions.
  @_spi(JobStore) public func matchesText(_ settings: JobSettings) -> Bool {
    // Compared by their bytes, as in the stores.
    if let tag, settings.tags?.contains(where: { $0.utf8.elementsEqual(tag.utf8) }) != true { return false }
    if let label, settings.label?.utf8.contains(label.utf8) != true { return false }
    return true
  }
}
