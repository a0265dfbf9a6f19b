@_spi(JobStore) extension MemoryTableRows {
  /// Writes an error group.
  ///
  /// - Parameter group: The group, whose counts end with the hour when it was last seen.
  public func put(_ group: JobErrorGroup) { memory.errors[group.id] = group }

  /// Removes an error group.
  ///
  /// - Parameter id: The ID of the group.
  public func removeErrorGroup(_ id: JobErrorGroup.ID) { memory.errors[id] = nil }

  /// Returns the error groups among several that exist.
  ///
  /// - Parameter ids: The IDs of the groups to look up.
  /// - Returns: The IDs of those that exist.
  public func existingErrorGroups(among ids: [JobErrorGroup.ID]) -> Set<JobErrorGroup.ID> {
    Set(ids.filter { memory.errors[$0] != nil })
  }

  /// Returns the number of error groups of each kind.
  ///
  /// - Parameter kinds: The kinds of jobs.
  /// - Returns: The numbers of the kinds that have groups.
  public func errorGroupCounts(of kinds: [JobKind]) -> [JobKind: Int] {
    let found = memory.errors.values.map(\.kind).filter(kinds.contains)
    return Dictionary(found.map { ($0, 1) }, uniquingKeysWith: +)
  }

  /// Counts attempts that have failed now.
  ///
  /// - Parameter failures: A group for each error.
  public func countErrors(_ failures: [JobErrorGroup]) {
    let hour = JobErrorGroup.hour(of: now)
    for failure in failures {
      var group = memory.errors[failure.id] ?? failure.withoutAttempts
      let last = JobErrorGroup.hour(of: group.lastSeenTime)
      group = group.moved(from: last, to: max(last, hour))
      group.add(failure.count, in: hour, lastAt: now, of: failure.lastJob, lastHour: max(last, hour))
      put(group)
    }
  }

  /// Returns the mute of an error group.
  ///
  /// - Parameter id: The ID of the group.
  /// - Returns: The mute; nil if the group is not muted or does not exist.
  public func errorMute(of id: JobErrorGroup.ID) -> JobErrorGroup.Mute? { memory.errors[id]?.mute }

  /// Changes or removes the mute of an error group.
  ///
  /// - Parameters:
  ///   - mute: The note of a person; nil to remove it.
  ///   - id: The ID of the group.
  /// - Returns: Whether the group exists and had another note.
  public func setMute(_ mute: JobErrorGroup.Mute?, of id: JobErrorGroup.ID) -> Bool {
    guard var group = memory.errors[id], group.mute?.note != mute?.note || group.mute?.author != mute?.author else {
      return false
    }
    group.mute = mute
    put(group)
    return true
  }

  /// Removes the error groups that are no longer kept.
  public func pruneErrors() {
    for id in JobErrorGroup.expired(among: Array(memory.errors.values), at: now) { removeErrorGroup(id) }
  }
}

@_spi(JobStore) extension MemoryJobs {
  /// Returns error groups.
  ///
  /// - Parameters:
  ///   - id: The only group to return; nil for all.
  ///   - now: The time of the store's clock.
  /// - Returns: The groups, with the counts of the hours until now.
  public func errorGroups(_ id: JobErrorGroup.ID?, at now: StoreTime) -> [JobErrorGroup] {
    let groups = id.map { [errors[$0]].compactMap(\.self) } ?? Array(errors.values)
    return groups.map { $0.moved(from: JobErrorGroup.hour(of: $0.lastSeenTime), to: JobErrorGroup.hour(of: now)) }
  }
}
