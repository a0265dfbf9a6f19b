#if Jobs
import GRDB
import Headway
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  func standings(of ids: [JobID]) throws -> [JobID: JobGraph.Standing] {
    let found = try rows(GraphSQL.standing, for: ids) { row in
      let standing = try readStanding(row)
      return (standing.id, standing)
    }
    return Dictionary(found, uniquingKeysWith: { first, _ in first })
  }

  func unmetEdges(from ids: [JobID], limit: Int) throws -> [JobEdge] {
    var found: [JobEdge] = []
    for id in ids where found.count < limit {
      let rest = limit - found.count
      found += try rows(GraphSQL.unmetEdges, for: [id], { $1.add($0.rawValue) }, constants: { $0.add(rest) }) { row in
        try JobRow.readEdge(row)
      }
    }
    return found
  }

  func meetEdges(of ends: [JobGraph.Standing], limit: Int) throws -> Int {
    var count = 0
    for end in ends where count < limit { count += try meetEdges(of: end, limit: limit - count) }
    return count
  }

  private func meetEdges(of end: JobGraph.Standing, limit: Int) throws -> Int {
    let dependents = try rows(
      GraphSQL.meetable,
      {
        $0.add(end.id.rawValue)
        $0.add(end.state == .succeeded)
        $0.add(limit)
      }, { $0.id(0) })
    try setStatus(
      .met, of: dependents.map { JobEdge(dependency: end.id, dependent: $0, requirement: .completion) })
    let places = dependents.isEmpty ? [] : Array(zip(dependents, try nextPositions(dependents.count)))
    _ = try rows(
      GraphSQL.meet, for: places,
      { place, values in
        values.add(place.0.rawValue)
        values.add(place.1)
      }, constants: { $0.add(now) }, { noteMet($0) })
    return dependents.count
  }
}
#endif
