/// Calls `raise` with the priority of the task that waits in `body`: immediately, and again when the task is escalated.
///
/// - Parameters:
///   - raise: Raises the operations that the task waits for. It may be called several times concurrently, and after the
///     wait. It is not called with the medium priority, which is the default.
///   - body: The function that waits.
/// - Returns: The value that `body` returns.
/// - Throws: The error that `body` throws.
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
    // Called here, because an escalation between an earlier read and the registration of the handler would be lost.
    raiseNow()
    return try await body()
  } onPriorityEscalated: { _, priority in
    // Called on another thread, because the runtime calls this handler under a lock of the task.
    WorkerPool.shared.submit(PoolBlock { raise(priority) }, count: 1)
  }
}

extension Task {
  /// Escalates the task, if the system supports it.
  func escalate(to priority: TaskPriority) {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    escalatePriority(to: priority)
  }
}
