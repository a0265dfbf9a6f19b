#if Jobs
public import ServiceLifecycle

extension JobWorker: Service {
  func runUntilShutdown(_ session: WorkerSession) async throws {
    try await withGracefulShutdownHandler {
      try await session.run()
    } onGracefulShutdown: {
      session.stop(isImmediate: false)
    }
  }
}
#else
extension JobWorker {
  func runUntilShutdown(_ session: WorkerSession) async throws { try await session.run() }
}
#endif
