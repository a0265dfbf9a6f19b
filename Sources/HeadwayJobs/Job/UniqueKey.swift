/// A key that at most one job of a store can hold at a time.
///
/// ```swift
/// try await jobs.enqueue(Resize(path: path), .unique(.unfinished("resize:\(path)")))
/// ```
///
/// The store enforces the key: even if two processes enqueue at the same instant, there is only one job. Jobs of all
/// kinds share their keys, so begin each key with the kind.
public struct UniqueKey: Hashable, Codable, Sendable {
  /// How long a job holds its key.
  public enum Scope: Hashable, Codable, Sendable {
    /// Until a worker claims the job, so one job can wait while another job runs.
    case waiting
    /// Until the job has ended.
    case unfinished
    /// For a time after the job was enqueued, even if it ends or is deleted earlier.
    case duration(Duration)
  }

  /// The behavior if another job holds the key of a new job.
  public enum Conflict: Hashable, Codable, Sendable {
    /// The new job is not stored, and the other job is not changed.
    case keep
    /// The new job is not stored. The other job receives its kind, payload, delay and priority, unless the other job
    /// is running.
    case replace
  }

  /// The key.
  ///
  /// Keys with the scope ``Scope/duration(_:)`` are separate from keys with other scopes.
  public var key: String
  /// How long a job holds the key.
  public var scope: Scope
  /// The behavior if another job holds the key of a new job.
  public var conflict: Conflict

  /// Creates a key.
  ///
  /// - Parameters:
  ///   - key: The text of the key, up to 1,024 bytes of UTF-8.
  ///   - scope: How long a job holds the key.
  ///   - conflict: The behavior if another job holds the key of a new job.
  public init(_ key: String, scope: Scope, conflict: Conflict = .keep) {
    self.key = key
    self.scope = scope
    self.conflict = conflict
  }

  /// Returns a key that the job holds until a worker claims the job.
  ///
  /// - Parameters:
  ///   - key: The text of the key, up to 1,024 bytes of UTF-8.
  ///   - conflict: The behavior if another job holds the key of a new job.
  /// - Returns: A key with the scope ``Scope/waiting``.
  public static func waiting(_ key: String, onConflict conflict: Conflict = .keep) -> UniqueKey {
    UniqueKey(key, scope: .waiting, conflict: conflict)
  }

  /// Returns a key that the job holds until it has ended.
  ///
  /// - Parameters:
  ///   - key: The text of the key, up to 1,024 bytes of UTF-8.
  ///   - conflict: The behavior if another job holds the key of a new job.
  /// - Returns: A key with the scope ``Scope/unfinished``.
  public static func unfinished(_ key: String, onConflict conflict: Conflict = .keep) -> UniqueKey {
    UniqueKey(key, scope: .unfinished, conflict: conflict)
  }

  /// Returns a key that the job holds for a time after it was enqueued.
  ///
  /// - Parameters:
  ///   - key: The text of the key, up to 1,024 bytes of UTF-8.
  ///   - duration: How long the job holds the key.
  /// - Returns: A key with the scope ``Scope/duration(_:)``.
  public static func held(_ key: String, for duration: Duration) -> UniqueKey {
    UniqueKey(key, scope: .duration(duration))
  }

  /// How long the key is held; nil if it depends on the state of the job.
  @_spi(JobStore) public var duration: Duration? {
    if case .duration(let duration) = scope { return duration }
    return nil
  }
}
