/// A stored job of a type, with its decoded value.
public struct StoredJob<Type: Job>: Sendable {
  /// The decoded value.
  public let job: Type
  /// The stored job: its number, its state, its queue, and so on.
  public let record: JobRecord
}

extension Jobs {
  /// Returns the jobs of a type, with their decoded values, ordered by ID.
  ///
  /// ```swift
  /// let failed = try await jobs.jobs(of: Resize.self, JobFilter(states: [.failed]))
  /// print(failed.map(\.job))
  /// ```
  ///
  /// The jobs of the type's ``Job/aliases`` are also returned.
  ///
  /// - Parameters:
  ///   - type: The type of the jobs.
  ///   - filter: Further conditions. If it has kinds, other kinds of the type are not returned.
  ///   - id: Only jobs with greater IDs are returned; nil for all.
  ///   - limit: The maximum number of jobs; not negative.
  /// - Returns: The matching jobs of the type, at most `limit`.
  /// - Throws: ``JobError``, with the code ``JobError/Code/undecodablePayload`` if a job can't be decoded.
  public func jobs<Type: Job>(
    of type: Type.Type, _ filter: JobFilter = .all, after id: JobID? = nil, limit: Int = 1_000
  ) async throws -> [StoredJob<Type>] {
    var filter = filter
    filter.kinds = filter.kinds?.intersection(Type.kinds) ?? Set(Type.kinds)
    return try await jobs(filter, after: id, limit: limit).map { record in
      StoredJob(job: try record.decoded(as: type), record: record)
    }
  }
}

extension Job {
  /// The kind of the type and its aliases.
  static var kinds: [JobKind] { [kind] + aliases.filter { $0 != kind } }
}

extension JobRecord {
  /// Decodes the job.
  ///
  /// - Parameter type: The type of the job.
  /// - Returns: The decoded job, migrated if an older version of the type encoded it.
  /// - Throws: ``JobError`` with the code ``JobError/Code/undecodablePayload``.
  package func decoded<Type: Job>(as type: Type.Type) throws -> Type {
    guard version <= Type.version else {
      throw JobError(
        .undecodablePayload,
        "The payload of job \(id) of the kind \(kind) has the version \(version), but this program knows versions up "
          + "to \(Type.version). Update the program.")
    }
    do {
      return version == Type.version ? try payload.decode(type) : try Type(migrating: payload, from: version)
    } catch {
      throw JobError(
        .undecodablePayload,
        "The payload of job \(id) of the kind \(kind), version \(version), can't be decoded: \(error)",
        underlyingError: error)
    }
  }
}
