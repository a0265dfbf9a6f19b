/// An attempt that has failed.
struct FailedAttempt {
  let job: JobID
  let kind: JobKind
  let error: JobErrorDescription

  init(_ job: JobRecord, _ error: JobErrorDescription) { (self.job, kind, self.error) = (job.id, job.kind, error) }
}

@_spi(JobStore) extension JobRows {
  /// Counts failed attempts in the groups of their errors, and notes the groups in the jobs.
  ///
  /// One transaction reads and writes each group once, however many attempts have failed. See
  /// `Docs/decisions/0058-error-groups.md`.
  ///
  /// - Parameters:
  ///   - failures: The errors of the attempts, in order.
  ///   - jobs: The jobs, which have not been written yet.
  /// - Throws: An error of the store.
  func note(_ failures: [FailedAttempt], in jobs: inout [JobRecord]) throws {
    guard !failures.isEmpty else { return }
    var (groups, places) = ([JobErrorGroup.ID: JobErrorGroup](), [JobID: JobErrorGroup.ID]())
    for failure in failures {
      let group = JobErrorGroup(failure, at: now)
      groups.add(group)
      places[failure.job] = group.id
    }
    let others = try mergeFurtherGroups(of: &groups)
    try countErrors(groups.values.sorted { $0.id < $1.id })
    for index in jobs.indices {
      guard let place = places[jobs[index].id] else { continue }
      jobs[index].errorGroup = others[place] ?? place
    }
  }

  /// Replaces new groups of kinds that have too many groups.
  ///
  /// - Returns: The groups that count the attempts instead.
  private func mergeFurtherGroups(
    of groups: inout [JobErrorGroup.ID: JobErrorGroup]
  ) throws -> [JobErrorGroup.ID: JobErrorGroup.ID] {
    let known = try existingErrorGroups(among: groups.keys.sorted())
    let new = groups.values.filter { !known.contains($0.id) }.sorted { $0.id < $1.id }
    guard !new.isEmpty else { return [:] }
    var counts = try errorGroupCounts(of: Set(new.map(\.kind)).sorted())
    var others: [JobErrorGroup.ID: JobErrorGroup.ID] = [:]
    for group in new {
      guard counts[group.kind, default: 0] >= JobErrorGroup.maxCountPerKind else {
        counts[group.kind, default: 0] += 1
        continue
      }
      groups[group.id] = nil
      groups.add(group.other)
      others[group.id] = group.other.id
    }
    return others
  }
}

@_spi(JobStore) extension [JobErrorGroup.ID: JobErrorGroup] {
  /// Adds the attempts of a group, which failed in the same transaction as the attempts of the other groups.
  public mutating func add(_ group: JobErrorGroup) {
    guard var sum = self[group.id] else {
      self[group.id] = group
      return
    }
    (sum.count, sum.lastJob) = (sum.count + group.count, Swift.max(sum.lastJob, group.lastJob))
    self[group.id] = sum
  }
}
