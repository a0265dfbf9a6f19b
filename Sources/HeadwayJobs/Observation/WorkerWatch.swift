import Headway

/// Checks once per second for code that does not return, and for jobs that no worker supports.
struct WorkerWatch {
  private let reports: WorkerReports
  private var stuck = StuckAttempts()
  private var unknownKinds = UnknownKinds()
  private var lastRead: Duration?

  /// The time between two reads of the waiting jobs.
  private static let interval = Duration.seconds(10)

  init(_ reports: WorkerReports) { self.reports = reports }

  mutating func look(at attempts: [WorkerState.Attempt], _ store: any JobStoreBackend, at time: Duration) async {
    let cancelled = attempts.filter { $0.context.hasBegun && $0.isCancelled }
    let fences = stuck.update(cancelled.map(\.context.fence), at: time)
    for (fence, duration) in fences {
      guard let attempt = cancelled.first(where: { $0.context.fence == fence }) else { continue }
      reports.post(.stuck(JobAttempt(attempt.context.job, fence), cancelledFor: duration))
    }
    if let lastRead, time - lastRead < Self.interval { return }
    lastRead = time
    // A failure is reported by the beat.
    guard let snapshot = try? await store.snapshot([.waiting, .workers]) else { return }
    for (jobs, queue) in unknownKinds.update(snapshot) { reports.post(.unknownKind(jobs, queue: queue)) }
  }
}
