#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// The unfinished jobs that an index contains.
struct JobPart {
  let state: JobState
  /// The condition of the index.
  let condition: String
  /// The order of the waiting jobs in the index, after the queue and the priority.
  var order = "position"

  static let all = [
    JobPart(state: .held, condition: "state = 0"),
    JobPart(state: .scheduled, condition: "state = 1"),
    JobPart(state: .waiting, condition: "state = 2 AND crashes = 0 AND limit_key IS NULL"),
    JobPart(
      state: .waiting, condition: "state = 2 AND crashes = 0 AND limit_key IS NOT NULL",
      order: "further, limit_key, position"),
    JobPart(state: .waiting, condition: "state = 2 AND crashes > 0"),
    JobPart(state: .running, condition: "state = 3"),
  ]
}
#endif
