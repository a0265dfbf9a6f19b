import FoundationEssentials

/// The limits of a job in the form that stores index.
extension JobSettings {
  /// The limit whose key determines the turn of the job.
  @_spi(JobStore) public var firstLimit: JobLimit? { limits?.first }

  /// The stored form of the limits after the first limit.
  ///
  /// Jobs with the same value form a *group*.
  ///
  /// The value is ``noFurtherLimits`` if the job has one limit, and nil if the job has no limits. If a limit of a group
  /// permits no job, a claim skips all jobs of the group.
  @_spi(JobStore) public var furtherLimits: String? {
    guard let limits, !limits.isEmpty else { return nil }
    guard limits.count > 1 else { return Self.noFurtherLimits }
    return String(decoding: StoredForm.encode(Array(limits.dropFirst())), as: UTF8.self)
  }

  /// The group of the jobs with one limit.
  ///
  /// This group precedes all other groups. It is not empty, so each group follows an empty string.
  @_spi(JobStore) public static let noFurtherLimits = "-"

  /// Returns the limits of a group, or none if they can't be read.
  @_spi(JobStore) public static func furtherLimits(_ stored: String) -> [JobLimit] {
    stored == noFurtherLimits ? [] : (try? StoredForm.decode([JobLimit].self, Array(stored.utf8))) ?? []
  }

  /// Returns how many units of each key are in use because of the further limits of running jobs.
  @_spi(JobStore) public static func furtherWeights(_ counts: some Sequence<(group: String, count: Int)>) -> [String:
    Int]
  {
    var weights: [String: Int] = [:]
    for (group, count) in counts {
      for limit in furtherLimits(group) { weights[limit.storedKey, default: 0] += limit.units * count }
    }
    return weights
  }
}
