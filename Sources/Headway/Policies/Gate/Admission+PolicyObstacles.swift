/// The operations that must finish before the policy of another operation allows it to start.
extension Admission {
  /// Adds the operations that keep an operation with a policy waiting for its resources, or for the limits of its key.
  func addObstacles(of operation: Operation, to obstacles: inout AdmissionObstacles) {
    if let gate = operation.resourceGate {
      ResourceTable.shared.withLock { table in
        obstacles.changes += Int(gate.endedWaits)
        obstacles.all += table.obstacles(of: gate)
      }
    }
    guard let member = operation.laneMember, member.isReady, let lane = member.lane, lane.limits.waitsForEnd else {
      return
    }
    obstacles.any = [lane.started.map(\.operation)]
  }
}
