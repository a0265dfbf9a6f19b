public import Headway

/// A job that another job waits for.
///
/// Pass dependencies when you enqueue a job. A handle, a number, or an entry of a ``JobBatch`` can serve as a
/// dependency:
///
/// ```swift
/// let photo = try await jobs.enqueue(Resize(path: "photo.jpg"))
/// try await jobs.enqueue(Publish(), .after(photo.success))
/// ```
public struct JobDependency: JobReference, Hashable {
  /// The job to wait for.
  public enum Target: Hashable, Sendable {
    /// A job of the store.
    case job(JobID)
    /// The job at an index of the same batch.
    case batch(Int)
  }

  /// The job to wait for.
  public var target: Target
  /// Whether the job must only end, or must succeed.
  public var requirement: DependencyRequirement
  /// The number of the batch, if the dependency is an entry of one, to detect entries of other batches.
  var batchNumber: Int?

  /// Creates a dependency.
  ///
  /// - Parameters:
  ///   - target: The job to wait for.
  ///   - requirement: Whether the job must only end, or must succeed.
  public init(_ target: Target, requiring requirement: DependencyRequirement = .completion) {
    self.target = target
    self.requirement = requirement
  }

  /// The dependency itself.
  public var dependency: JobDependency { self }
}

/// A job that other jobs can wait for: a handle, a number, or an entry of a batch.
public protocol JobReference: Sendable {
  /// The job as a dependency that must end, whether it succeeds, fails or is cancelled.
  var dependency: JobDependency { get }
}

extension JobReference {
  /// The job as a dependency that must succeed.
  ///
  /// If it fails or is cancelled, the jobs that wait for it are cancelled.
  public var success: JobDependency {
    var dependency = dependency
    dependency.requirement = .success
    return dependency
  }
}

extension JobID: JobReference {
  /// The job as a dependency that must end.
  public var dependency: JobDependency { JobDependency(.job(self)) }
}

extension JobHandle: JobReference {
  /// The job as a dependency that must end.
  public var dependency: JobDependency { id.dependency }
}
