#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

/// The queues of an exchange that might have jobs to claim.
///
/// An exchange with claims for many queues costs little if few have jobs.
struct WaitingQueues {
  /// The queues that have waiting jobs; nil if all queues might have waiting jobs.
  private var queues: Set<String>?

  /// The conditions of the indexes that contain the waiting jobs.
  private static let parts = [ClaimSQL.plain, ClaimSQL.keyed, ClaimSQL.suspects]

  /// Up to this number of queues, claims search for jobs themselves.
  private static let maxDirectCount = 4

  init(_ claims: [JobClaim], _ database: Database) throws {
    guard claims.count > Self.maxDirectCount else { return }
    // In SQLite's order.
    let names = claims.map(\.queue).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    var found: Set<String> = []
    for part in Self.parts {
      let first = try SQLStatement(ClaimSQL.firstQueue(in: part), database)
      defer { first.reset() }
      // Each step finds the first queue with waiting jobs that is not before the next name and continues with the name
      // after that queue.
      var rest = names[...]
      while let name = rest.first {
        first.bind(name, at: 1)
        guard try first.step() else { break }
        let queue = first.text(0)
        first.reset()
        rest = rest.dropFirst(Self.count(of: rest, before: queue))
        guard let next = rest.first, next.utf8.elementsEqual(queue.utf8) else { continue }
        found.insert(next)
        rest = rest.dropFirst()
      }
    }
    queues = found
  }

  var isEmpty: Bool { queues?.isEmpty ?? false }

  func contains(_ queue: String) -> Bool { queues?.contains(queue) ?? true }

  /// Returns the names of queues that have waiting jobs, in SQLite's order.
  ///
  /// Each step finds the next queue of each index.
  static func names(after name: String?, limit: Int, _ database: Database) throws -> [String] {
    let parts = try Self.parts.map { try SQLStatement(ClaimSQL.nextQueue(in: $0), database) }
    defer { for part in parts { part.reset() } }
    var (names, last) = ([String](), name ?? "")
    while names.count < limit {
      var next: String?
      for part in parts {
        part.bind(last, at: 1)
        if try part.step() {
          let queue = part.text(0)
          if next.map({ queue.utf8.lexicographicallyPrecedes($0.utf8) }) ?? true { next = queue }
          part.reset()
        }
      }
      guard let next else { break }
      names.append(next)
      last = next
    }
    return names
  }

  /// Returns how many of sorted names are before a name.
  private static func count(of names: ArraySlice<String>, before name: String) -> Int {
    var (low, high) = (names.startIndex, names.endIndex)
    while low < high {
      let middle = (low + high) / 2
      if names[middle].utf8.lexicographicallyPrecedes(name.utf8) { low = middle + 1 } else { high = middle }
    }
    return low - names.startIndex
  }
}
#endif
