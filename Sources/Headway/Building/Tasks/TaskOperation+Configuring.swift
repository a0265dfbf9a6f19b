extension TaskOperation {
  /// Configures a new operation before it is added to a queue.
  func configure(
    _ name: String?, _ priority: QueuePriority, _ quality: QualityOfService?, _ dependencies: [Operation],
    _ requirement: DependencyRequirement
  ) {
    if let name { self.name = name }
    if priority != .normal { queuePriority = priority }
    if let quality { qualityOfService = quality }
    for dependency in dependencies { addDependency(dependency, requiring: requirement) }
  }
}
