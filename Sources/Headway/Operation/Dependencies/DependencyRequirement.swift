/// How a dependency must have ended for its dependent to run.
public enum DependencyRequirement: Sendable {
  /// It has finished, however: the requirement of ``Operation/addDependency(_:)``.
  case completion
  /// It has succeeded: it recorded no error and was not cancelled.
  case success
}
