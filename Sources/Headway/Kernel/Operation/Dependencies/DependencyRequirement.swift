/// The outcome that a dependent requires of a dependency.
public enum DependencyRequirement: Sendable {
  /// The dependency has finished, with any outcome.
  ///
  /// This is the requirement of ``Operation/addDependency(_:)``.
  case completion
  /// The dependency has succeeded: it recorded no error and was not cancelled.
  case success
}
