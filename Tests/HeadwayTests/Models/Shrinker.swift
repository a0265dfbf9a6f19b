import Headway

/// Reduces a failing program, so that a person sees the fault in the library.
struct Shrinker {
  /// Whether a program still fails.
  let fails: (Program) -> Bool

  /// The smallest failing program that can be reached by omitting and simplifying.
  func shrink(_ program: Program) -> Program {
    var smallest = program
    while let smaller = smallerProgram(than: smallest) { smallest = smaller }
    return smallest
  }

  private func smallerProgram(than program: Program) -> Program? {
    withoutCommands(program) ?? simplified(program)
  }

  /// Omits as many commands as possible at a time: half of them, a quarter, … one.
  private func withoutCommands(_ program: Program) -> Program? {
    var length = max(1, program.commands.count / 2)
    while !program.commands.isEmpty {
      for start in stride(from: 0, to: program.commands.count, by: length) {
        var smaller = program
        smaller.commands.removeSubrange(start..<min(start + length, program.commands.count))
        if fails(smaller) { return smaller }
      }
      guard length > 1 else { return nil }
      length /= 2
    }
    return nil
  }

  /// Simplifies one thing.
  private func simplified(_ program: Program) -> Program? {
    for queue in program.orders.indices where program.orders[queue] == .fifo {
      var smaller = program
      smaller.orders[queue] = .priority
      if fails(smaller) { return smaller }
    }
    for number in program.operations.indices {
      for simpler in program.operations[number].simpler {
        var smaller = program
        smaller.operations[number] = simpler
        if fails(smaller) { return smaller }
      }
    }
    for position in program.commands.indices {
      for simpler in program.commands[position].simpler {
        var smaller = program
        smaller.commands[position] = simpler
        if fails(smaller) { return smaller }
      }
    }
    return nil
  }
}

extension Blueprint {
  fileprivate var simpler: [Blueprint] {
    (inside != nil ? [Blueprint(kind: kind)] : []) + (kind != .plain ? [Blueprint(kind: .plain, inside: inside)] : [])
      + (inside?.simpler ?? []).map { Blueprint(kind: kind, inside: $0) }
  }
}

extension Command {
  /// Each is simpler than this one, so simplifying ends.
  fileprivate var simpler: [Command] {
    switch self {
    case .depend(let operation, let other, true): [.depend(operation, on: other, requiresSuccess: false)]
    case .finish(let operation, true): [.finish(operation, isFailure: false)]
    case .addBatch(let operations, let queue):
      (operations.count == 1 ? [.add(operations[0], queue: queue)] : [])
        + operations.indices.map { position in
          .addBatch(Array(operations[..<position] + operations[(position + 1)...]), queue: queue)
        }
    case .run(let queue): [.step(queue: queue)]
    case .limit(let queue, let limit) where limit > 1: [.limit(queue: queue, limit - 1)]
    default: []
    }
  }
}
