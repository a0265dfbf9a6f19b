#if Jobs
@_spi(JobStore) import HeadwayJobs

/// Statements that find waiting jobs for claims.
///
/// The first parameters are the queue and the time, the kind, the version and the priority.
enum ClaimSQL {
  /// The conditions of the waiting jobs, in parts that each have an index.
  static let plain = JobPart.plain.condition
  static let keyed = JobPart.keyed.condition
  static let suspects = JobPart.suspect.condition
  private static let isOpen = "(deadline IS NULL OR deadline > ?2)"

  /// The plain jobs of a kind and version in their order, of all priorities or of one; by `headway_job_waiting`.
  ///
  /// Lists that are read at the same time have different numbers, so that each has its own entry in the cache.
  static func plainJobs(readsReady: Bool, hasPriority: Bool, list: Int) -> String {
    """
    SELECT id, priority, position\(readsReady ? ", ready" : "") FROM headway_job WHERE \(plain)
    AND queue = ?1 AND kind = ?3 AND version = ?4 \(hasPriority ? "AND priority = ?5" : "")
    AND \(isOpen) ORDER BY priority DESC, position -- \(list)
    """
  }

  /// The suspects in their order, of all priorities or of one; by `headway_job_suspect`.
  static func suspectJobs(hasPriority: Bool, list: Int) -> String {
    """
    SELECT id, priority, position, ready, kind, version, limit_key, slots, weight, further FROM headway_job
    WHERE \(suspects) AND queue = ?1 \(hasPriority ? "AND priority = ?3" : "") AND \(isOpen)
    ORDER BY priority DESC, position -- \(list)
    """
  }

  /// Whether a queue has waiting jobs with keys; by `headway_job_keyed`.
  static let hasKeys = "SELECT 1 FROM headway_job WHERE \(keyed) AND queue = ?1 LIMIT 1"

  /// The next version of a kind that has waiting jobs; by the index of the part.
  static func nextVersion(in part: String) -> String {
    """
    SELECT version FROM headway_job WHERE \(part) AND queue = ?1 AND kind = ?3 AND version > ?4
    AND version <= ?5 ORDER BY version LIMIT 1
    """
  }

  /// The next lower priority of a kind and version, or of all kinds; by the index of the part.
  static func nextPriority(in part: String, hasKind: Bool) -> String {
    """
    SELECT priority FROM headway_job WHERE \(part) AND queue = ?1
    \(hasKind ? "AND kind = ?3 AND version = ?4" : "") AND priority <= ?5 ORDER BY priority DESC LIMIT 1
    """
  }

  /// The next group of a kind, version and priority; by `headway_job_keyed`.
  static let nextGroup = """
    SELECT further FROM headway_job WHERE \(keyed) AND queue = ?1 AND kind = ?3 AND version = ?4
    AND priority = ?5 AND further > ?6 ORDER BY further LIMIT 1
    """

  /// The first job of a key, or of the next key; by `headway_job_keyed`.
  static func firstJob(isAfterKey: Bool, readsReady: Bool) -> String {
    """
    SELECT id, position, \(readsReady ? "ready" : "NULL"), limit_key, slots, weight, further FROM headway_job
    WHERE \(keyed) AND queue = ?1 AND kind = ?3 AND version = ?4 AND priority = ?5 AND further = ?6
    AND limit_key \(isAfterKey ? ">" : "=") ?7 AND \(isOpen) ORDER BY limit_key, position LIMIT 1
    """
  }

  /// A job with keys, by its number; by the primary key.
  static let heavyJob = """
    SELECT position, ready, kind, version, limit_key, slots, weight, further FROM headway_job
    WHERE id = ?3 AND \(keyed) AND queue = ?1 AND priority = ?4 AND \(isOpen)
    """

  // MARK: Queues

  /// The first queue with waiting jobs that is not before a name; by the index of the part.
  static func firstQueue(in part: String) -> String {
    "SELECT queue FROM headway_job WHERE \(part) AND queue >= ?1 ORDER BY queue LIMIT 1"
  }

  /// The next queue with waiting jobs after a name; by the index of the part.
  static func nextQueue(in part: String) -> String {
    "SELECT queue FROM headway_job WHERE \(part) AND queue > ?1 ORDER BY queue LIMIT 1"
  }

  /// Whether any job waits; by an index for each part.
  static let waits = """
    SELECT EXISTS (SELECT 1 FROM headway_job WHERE \(plain)) OR EXISTS (SELECT 1 FROM headway_job WHERE \(keyed))
    OR EXISTS (SELECT 1 FROM headway_job WHERE \(suspects))
    """
}
#endif
