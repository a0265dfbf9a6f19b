/// Has `raise` called with the priority of the task that waits in `body`: at once, and again when that is escalated.
///
/// - Parameters:
///   - raise: Raises what the task waits for. It may be called several times at once, and after the wait. Not called
///     with the medium priority, which tasks have of which nothing was said.
///   - body: Waits.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws.
func withPriority<Answer, Failure: Error>(
  raising raise: @escaping @Sendable (TaskPriority) -> Void, _ body: () async throws(Failure) -> Answer
) async throws(Failure) -> Answer {
  func raiseNow() {
    let priority = Task.currentPriority
    if QualityOfService(priority) != .default { raise(priority) }
  }
  guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
    raiseNow()
    return try await body()
  }
  return try await withTaskPriorityEscalationHandler { () async throws(Failure) -> Answer in
    // Here: an escalation between a look before and the handler's registration would be lost.
    raiseNow()
    return try await body()
  } onPriorityEscalated: { _, priority in
    // Elsewhere, since the runtime calls this under a lock of the task.
    WorkerPool.shared.submit(PoolBlock { raise(priority) }, count: 1)
  }
}

extension Task {
  /// Escalates the task, where the system can.
  func escalate(to priority: TaskPriority) {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    escalatePriority(to: priority)
  }
}
