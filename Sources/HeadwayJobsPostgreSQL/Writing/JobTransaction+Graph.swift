#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  func willSettle(_ ends: [JobGraph.Standing]) throws {
    // A failure cancels dependents, and no other transaction may add some in the meantime.
    if !ends.allSatisfy({ $0.state == .succeeded }) { try requireAlone() }
  }

  /// Returns the states of jobs and locks their rows in ascending order of ID.
  func standings(of ids: [JobID]) throws -> [JobID: JobGraph.Standing] {
    var (standings, missing) = ([JobID: JobGraph.Standing](), Set(ids))
    // A job that ends or is run again in between moves from one table to the other.
    for _ in 0..<2 {
      for sql in [GraphSQL.unfinishedStandings, GraphSQL.finishedStandings] {
        for standing in try rows(sql, for: missing.sorted(), { try readStanding($0) }) {
          standings[standing.id] = standing
          missing.remove(standing.id)
        }
      }
    }
    return standings
  }

  func unmetEdges(from ids: [JobID], limit: Int) throws -> [JobEdge] {
    try rows(GraphSQL.unmetEdges, for: ids, { $1.add($0.rawValue) }, constants: { $0.add(limit) }) { row in
      try JobRow.readEdge(row)
    }
  }

  func meetEdges(of ends: [JobGraph.Standing], limit: Int) throws -> Int {
    guard limit > 0 else { return 0 }
    func write(_ end: JobGraph.Standing, _ values: inout RowValues) {
      values.add(end.id.rawValue)
      values.add(end.state == .succeeded)
    }
    try run(GraphSQL.lockDependents, for: ends, write, constants: { $0.add(limit) })
    var count = 0
    _ = try rows(
      GraphSQL.meetEdges, for: ends, write,
      constants: {
        $0.add(limit)
        $0.add(now)
      }
    ) { row in
      if row.isNull(1) { count = row.int(0) } else { noteMet(row) }
    }
    return count
  }
}
#endif
