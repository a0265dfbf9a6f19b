import Headway

extension Jobs {
  /// Returns an object that records its changes under the name of a person.
  ///
  /// ```swift
  /// let jobs = Jobs(MemoryJobStore())
  /// try await jobs.changing(as: "anna").pauseQueue("mail")
  /// for change in try await jobs.changes() { print(change.author, change.action) }
  /// ```
  ///
  /// The record is part of the transaction of the change, and contains the values before and after: see
  /// ``JobsChangeRecord``. A command that changes nothing is not recorded. The dashboard and the command-line tool
  /// always name an author.
  ///
  /// Changes without an author are not recorded, because programs can make any number of them. Adding jobs is never
  /// recorded, except by a schedule that a person runs or backfills.
  ///
  /// - Parameter author: The name of the person, at most 512 bytes of UTF-8. With a longer name, changes throw a
  ///   ``JobError`` with the code ``JobError/Code/nameTooLong``.
  /// - Returns: An object for the same jobs. It uses this object and keeps it alive.
  /// - Precondition: The name is not empty.
  public func changing(as author: String) -> Jobs {
    require(!author.isEmpty, "The author of changes has no name: name the person, or use the jobs without an author.")
    return Jobs(self, author: author)
  }

  /// Returns the changes that people have made, newest first.
  ///
  /// - Parameters:
  ///   - job: A job, to return only changes whose selection was this job alone; nil for all changes.
  ///   - number: Only records with smaller numbers are returned; nil for all.
  ///   - limit: The maximum number of records; not negative.
  /// - Returns: The records, at most `limit`. Older ones than ``JobsChangeRecord/retention`` might be missing.
  /// - Throws: ``JobError``.
  public func changes(
    of job: JobID? = nil, before number: Int64? = nil, limit: Int = 100
  ) async throws -> [JobsChangeRecord] {
    require(limit >= 0, "The changes in a store are read with the limit \(limit): use 0 or more.")
    return try await backend.changes(of: job, before: number, limit: limit)
  }

  /// Returns the origin of a change.
  ///
  /// - Parameter filter: The selection of the person; nil if it is the filter of the command, or if there is none.
  /// - Returns: The origin; nil if the change has no author, so that it is not recorded.
  /// - Throws: ``JobError`` with the code ``JobError/Code/nameTooLong``.
  @_spi(JobStore) public func origin(filter: JobFilter? = nil) throws -> JobsChangeOrigin? {
    guard let author else { return nil }
    try NameLength.check(author, "The author of a change", NameLength.name)
    return JobsChangeOrigin(author, filter: filter)
  }
}
