import Headway
import Synchronization

/// The attempts that run as one operation.
///
/// See `Docs/decisions/0055-jobs-that-run-together.md`.
final class ChunkRun: Sendable {
  struct Member {
    let context: JobContext
    let result: AttemptResult
  }

  let members: [Member]

  init(_ members: [Member]) { self.members = members }

  /// Cancels one of the attempts, and the operation when all attempts are cancelled.
  func cancel(_ context: JobContext, _ operation: Operation) {
    context.noteCancelled()
    // A job that could not be decoded does not run.
    if members.allSatisfy({ $0.context.isMarkedCancelled || $0.result.error != nil }) { operation.cancel() }
  }

  /// Runs the jobs and stores their results.
  ///
  /// Jobs that were cancelled or given back in the meantime don't run.
  ///
  /// A job that can't be decoded, or whose result can't be encoded, does not affect other jobs.
  func perform<Type: ChunkJob>(_ type: Type.Type) async throws {
    var (running, entries) = ([Member](), [ChunkEntry<Type>]())
    for member in members where !member.context.isMarkedCancelled {
      do {
        try member.context.begin()
      } catch {
        // The job is given back.
        continue
      }
      do {
        entries.append(ChunkEntry(try member.context.job.decoded(as: type), member.context))
        running.append(member)
      } catch {
        member.result.fail(error)
      }
    }
    guard let first = running.first else { return }
    // The others might have been cancelled before the last job could not be decoded.
    guard !running.allSatisfy(\.context.isMarkedCancelled) else { throw CancellationError() }
    let results = Mutex<[Result<Type.Output, any Error>]>([])
    do {
      try await first.context.run { [entries] in
        let returned = try await Type.perform(entries)
        results.withLock { $0 = returned }
      }
    } catch let wait as JobSuspension {
      for member in running { member.fail(wait, of: type) }
      return
    }
    let returned = results.withLock(\.self)
    try Type.check(returned.count, running.count)
    for (member, result) in zip(running, returned) {
      do {
        member.result.keep(try member.context.encodedResult(result.get()))
      } catch {
        member.fail(error, of: type)
      }
    }
  }
}

extension ChunkRun.Member {
  /// Stores an error of the code, unless the error is the wait of another job.
  ///
  /// In this case, the job has no result.
  fileprivate func fail<Type: ChunkJob>(_ error: any Error, of type: Type.Type) {
    guard error is JobSuspension, context.suspension == nil else { return result.fail(error) }
    result.fail(
      JobError(
        .wrongResultCount,
        "perform(_:) of the kind \(Type.kind) has no result for job \(context.id), because another job waits. Return "
          + "the error of the wait as the result of the job that waits."))
  }
}
