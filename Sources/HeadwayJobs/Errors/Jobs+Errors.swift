import Headway

extension Jobs {
  // MARK: Errors

  /// Returns groups of failed attempts, latest first.
  ///
  /// - Parameters:
  ///   - areMuted: Whether to return only muted groups, or only those that are not muted; nil for all.
  ///   - limit: The maximum number of groups; not negative.
  /// - Returns: The groups, ordered by the time of their last failed attempts.
  /// - Throws: ``JobError``.
  /// - Complexity: O(*n*) in the number of groups, which is about ``JobErrorGroup/maxCount``.
  public func errorGroups(areMuted: Bool? = nil, limit: Int = 100) async throws -> [JobErrorGroup] {
    require(limit >= 0, "Error groups are read with the limit \(limit): use 0 or more.")
    let groups = try await backend.errorGroups(nil).filter { areMuted == nil || ($0.mute != nil) == areMuted }
    return try await counted(groups.sorted { ($0.lastSeenTime, $0.id) > ($1.lastSeenTime, $1.id) }.prefix(limit))
  }

  /// Returns a group of failed attempts.
  ///
  /// - Parameter id: The ID of the group.
  /// - Returns: The group, or nil if the store has no such group, or it was deleted.
  /// - Throws: ``JobError``.
  public func errorGroup(_ id: JobErrorGroup.ID) async throws -> JobErrorGroup? {
    try await counted(backend.errorGroups(id)[...]).first
  }

  /// Returns groups with the numbers of their jobs.
  private func counted(_ groups: ArraySlice<JobErrorGroup>) async throws -> [JobErrorGroup] {
    guard !groups.isEmpty else { return [] }
    let counts = try await backend.jobCounts(ofErrors: groups.map(\.id), upTo: JobErrorGroup.maxJobCount + 1)
    return groups.map { group in
      var group = group
      (group.retryingCount, group.failedCount) = counts[group.id] ?? (0, 0)
      return group
    }
  }

  /// Mutes a group of failed attempts, or changes its note.
  ///
  /// The group is still counted, but it does not count for alarms. The author of the mute is the author of this object:
  /// see ``changing(as:)``.
  ///
  /// - Parameters:
  ///   - id: The ID of the group.
  ///   - note: The reason, for other people. It is shortened to ``JobErrorGroup/Mute/maxNoteLength`` bytes.
  /// - Returns: Whether the group was changed. It is not changed if it does not exist, or has this note.
  /// - Throws: ``JobError``.
  @discardableResult
  public func mute(_ id: JobErrorGroup.ID, note: String) async throws -> Bool {
    try await perform(.setMuted(id, note: note, author: author)) > 0
  }

  /// Ends the mute of a group of failed attempts.
  ///
  /// - Parameter id: The ID of the group.
  /// - Returns: Whether the group was muted.
  /// - Throws: ``JobError``.
  @discardableResult
  public func unmute(_ id: JobErrorGroup.ID) async throws -> Bool {
    try await perform(.setMuted(id, note: nil, author: nil)) > 0
  }
}
