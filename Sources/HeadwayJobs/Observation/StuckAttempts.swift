/// Finds attempts that were cancelled, but whose code does not return.
struct StuckAttempts {
  private struct Wait {
    let since: Duration
    var isReported = false
  }

  private var waits: [JobFence: Wait] = [:]

  /// The time that code has to respond to its cancellation.
  static let patience = Duration.seconds(10)

  /// Updates the attempts that are cancelled and still run.
  ///
  /// - Parameters:
  ///   - fences: All attempts that are cancelled and still run.
  ///   - time: The time of the worker's clock.
  /// - Returns: The attempts that have been cancelled for at least ``patience``, each once, with the time since then.
  mutating func update(_ fences: some Sequence<JobFence>, at time: Duration) -> [(fence: JobFence, duration: Duration)]
  {
    var current: [JobFence: Wait] = [:]
    var stuck: [(fence: JobFence, duration: Duration)] = []
    for fence in fences {
      var wait = waits[fence] ?? Wait(since: time)
      if !wait.isReported, time - wait.since >= Self.patience {
        wait.isReported = true
        stuck.append((fence, time - wait.since))
      }
      current[fence] = wait
    }
    waits = current
    return stuck
  }
}
