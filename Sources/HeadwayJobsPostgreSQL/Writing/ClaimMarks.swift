#if PostgreSQL
@_spi(JobStore) import HeadwayJobs
import Synchronization

/// The positions where the waiting jobs of each queue begin, as the claims of this process have found them.
///
/// Each claimed job leaves a dead row at the head of its queue. While another client holds a snapshot open, the server
/// can't remove dead rows, and each claim would read all of them again. Therefore, claims skip the rows before the
/// marks.
final class ClaimMarks: Sendable {
  /// The claims that look for the same jobs.
  private struct Key: Hashable {
    /// The bytes of the name, as the server compares them.
    let queue: [UInt8]
    let kinds: [JobKind: Int]

    init(_ claim: JobClaim) { (queue, kinds) = (Array(claim.queue.utf8), claim.kinds) }
  }

  /// The place of a waiting job.
  struct Place: Sendable {
    let queue: String
    let priority: Int
    let position: Int64
  }

  private struct State {
    var marks: [Key: ClaimMark] = [:]
    /// How often marks have been moved back.
    var generation = 0
  }

  private let state = Mutex(State())

  /// Returns the mark for a claim, and the generation of the marks.
  func mark(of claim: JobClaim) -> (mark: ClaimMark, generation: Int) {
    state.withLock { ($0.marks[Key(claim)] ?? ClaimMark(), $0.generation) }
  }

  /// Stores the mark of a claim whose transaction was committed, unless marks have been moved back in the meantime.
  func set(_ mark: ClaimMark, of claim: JobClaim, generation: Int) {
    state.withLock { state in
      if state.generation == generation { state.marks[Key(claim)] = mark }
    }
  }

  /// Moves the marks back to jobs that a committed transaction has put before them.
  func moveBack(to places: [Place]) {
    guard !places.isEmpty else { return }
    state.withLock { state in
      state.generation += 1
      for place in places {
        for key in state.marks.keys where key.queue.elementsEqual(place.queue.utf8) {
          state.marks[key]?.moveBack(to: place)
        }
      }
    }
  }
}
#endif
