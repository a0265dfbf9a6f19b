public import Headway

/// A dependency between two jobs of a store.
///
/// A store keeps the dependency until the dependent is deleted.
@_spi(JobStore) public struct JobEdge: Hashable, Sendable {
  /// The state of a dependency.
  public enum Status: Int, Hashable, Sendable {
    /// The dependency has not ended.
    case unmet = 0
    /// The dependency has ended as required.
    case met = 1
    /// The dependency has ended, but not as required.
    case failed = 2
  }

  /// The job that must end first.
  public var dependency: JobID
  /// The job that waits.
  public var dependent: JobID
  /// Whether the dependency must only end, or must succeed.
  public var requirement: DependencyRequirement
  /// The state of the dependency.
  public var status: Status

  /// Creates a dependency between two jobs.
  ///
  /// - Parameters:
  ///   - dependency: The job that must end first.
  ///   - dependent: The job that waits.
  ///   - requirement: Whether the dependency must only end, or must succeed.
  ///   - status: The state of the dependency.
  public init(
    dependency: JobID, dependent: JobID, requirement: DependencyRequirement, status: Status = .unmet
  ) {
    self.dependency = dependency
    self.dependent = dependent
    self.requirement = requirement
    self.status = status
  }
}
