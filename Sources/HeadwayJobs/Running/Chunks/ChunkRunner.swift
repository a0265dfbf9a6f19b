import Headway

/// Runs several jobs of one type at a time.
struct ChunkRunner: Sendable {
  let size: JobChunk
  /// Creates the operation that runs several attempts and stores their results.
  let makeOperation: @Sendable (ChunkRun) -> Operation

  init<Type: ChunkJob>(_ type: Type.Type) {
    require(
      (1...JobCommand.maxChangedCount).contains(Type.chunk.count) && Type.chunk.wait >= .zero,
      "The kind \(Type.kind) runs \(Type.chunk.count) jobs together, after waiting for \(Type.chunk.wait): use 1 to "
        + "\(JobCommand.maxChangedCount) jobs, and zero or more.")
    size = Type.chunk
    makeOperation = { run in TaskOperation { try await run.perform(Type.self) } }
  }

  /// Creates a runner; nil if the jobs of the type don't run together.
  static func runner<Type: Job>(_ type: Type.Type) -> ChunkRunner? {
    (type as? any ChunkJob.Type).map { ChunkRunner($0) }
  }
}
