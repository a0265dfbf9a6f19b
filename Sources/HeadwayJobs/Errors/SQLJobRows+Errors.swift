@_spi(JobStore) extension SQLJobRows {
  /// Returns the error groups among several that exist.
  public func existingErrorGroups(among ids: [JobErrorGroup.ID]) throws -> Set<JobErrorGroup.ID> {
    let found = try rows(Errors.existing, for: ids, { $1.add($0.rawValue) }, constants: { _ in }) { row in
      JobErrorGroup.ID(rawValue: row.int64(0))
    }
    return Set(found)
  }

  /// Returns the number of error groups of each kind.
  public func errorGroupCounts(of kinds: [JobKind]) throws -> [JobKind: Int] {
    let counts = try rows(Errors.countsByKind, for: kinds, { $1.add($0.rawValue) }, constants: { _ in }) { row in
      (row.kind(0), row.int(1))
    }
    return Dictionary(counts, uniquingKeysWith: +)
  }

  /// Writes attempts that have failed now.
  ///
  /// - Parameters:
  ///   - failures: A group with the number of attempts for each error, ordered by ID.
  ///   - place: The number of the rows that this connection counts in. Connections with different places don't wait
  ///     for each other.
  /// - Throws: The error of the database.
  public func writeErrors(_ failures: [JobErrorGroup], at place: Int) throws {
    try run(Errors.insert, for: failures) { group, values in
      values.add(group.id.rawValue)
      values.add(group.kind.rawValue)
      values.add(description: group.type)
      values.add(description: group.text)
      values.add(group.firstSeenTime)
    }
    let hour = JobErrorGroup.hour(of: now)
    try run(Errors.count, for: failures) { group, values in
      values.add(group.id.rawValue)
      values.add(hour)
      values.add(place)
      values.add(group.count)
      values.add(group.lastSeenTime)
      values.add(group.lastJob.rawValue)
    }
  }

  /// Returns the mute of an error group; nil if the group is not muted or does not exist.
  public func errorMute(of id: JobErrorGroup.ID) throws -> JobErrorGroup.Mute? {
    try reader.errorGroups(id).first?.mute
  }

  /// Changes or removes the mute of an error group, and returns whether the group had another one.
  public func setMute(_ mute: JobErrorGroup.Mute?, of id: JobErrorGroup.ID) throws -> Bool {
    let changed = try rows(
      Errors.setMute,
      { values in
        values.add(id.rawValue)
        values.add(description: mute?.note)
        values.add(description: mute?.author)
        values.add(mute?.time)
      }, { $0.int64(0) })
    return !changed.isEmpty
  }

  /// Adds up the counts of earlier hours and deletes the error groups that are no longer kept.
  public func pruneErrors() throws {
    let hour = JobErrorGroup.hour(of: now)
    for merge in Errors.merge {
      try run(merge) { values in
        values.add(hour)
        values.add(hour - Int64(JobErrorGroup.hourCount) + 1)
      }
    }
    try run(Errors.delete, for: JobErrorGroup.expired(among: reader.errorGroups(nil), at: now)) { id, values in
      values.add(id.rawValue)
    }
    try run(Errors.deleteCounts) { $0.add(hour) }
  }
}
