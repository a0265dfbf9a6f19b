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
    let holders = holders(of: lane)
    // If not all are found, a thread that runs a batch is about to begin or end one of them, so the lane will soon have
    // room.
    obstacles.add(holders, areAll: holders.count >= lane.started.count + lane.takenCount)
  }

  /// The operations that count toward the limits of a lane.
  ///
  /// Release them only after the queue's lock has been released: batches can end and free some of them in the meantime,
  /// and a user's object must not be freed under the lock.
  func holders(of lane: KeyLane) -> [Operation] {
    var holders = lane.started.map(\.operation)
    // They were taken before the lane had limits.
    guard lane.takenCount > 0 else { return holders }
    batches.forEach { batch in
      batch.forEachUnfinished {
        if let member = $0.laneMember, member.use == .taken, member.lane === lane { holders.append($0) }
      }
    }
    return holders
  }
}
