import Testing

/// The library and a model of the rules execute random programs of commands.
///
/// They are compared after each command.
///
/// A program that fails is reduced before it is shown. For a program that stops the process, `HEADWAY_MODEL_TRACE=1`
/// prints each seed before its turn.
@Suite("Model", .hangLimit) struct ModelTests {
  @Test(
    "O2, O4, O6, B5, C2, C3, C4, C5, C6, C7, D1, D2, D3, D4, D5, D6, K2, P2, Q3, Q4, Q5, Q8, Q10, Q12, W1: programs")
  func programs() {
    let count = environmentNumber("HEADWAY_MODEL_PROGRAMS") ?? 2_000
    let first = environmentNumber("HEADWAY_MODEL_SEED") ?? 1
    print("Model: \(count) programs from HEADWAY_MODEL_SEED=\(first)")
    for seed in first..<first + count {
      noteProgress(of: "Model", "HEADWAY_MODEL_SEED=\(seed)")
      if environmentNumber("HEADWAY_MODEL_TRACE") != nil { printError("Model: HEADWAY_MODEL_SEED=\(seed)") }
      let program = Program(seed: UInt64(seed))
      guard ProgramRun.divergence(program) != nil else { continue }
      // The program has failed, and objects that are never freed should not cost minutes in each attempt to reduce it.
      let small = Shrinker { ProgramRun.divergence($0, patience: 1_000) != nil }.shrink(program)
      let divergence = ProgramRun.divergence(small, patience: 1_000).map { "\($0)" } ?? "not again"
      Issue.record("HEADWAY_MODEL_SEED=\(seed) HEADWAY_MODEL_PROGRAMS=1: \(divergence)\n\(small)")
      return
    }
  }

  @Test("Random programs reach every kind of situation") func reach() {
    var (commands, inside, ends): (Set<String>, Set<String>, Set<String>) = ([], [], [])
    var mostStuck = 0
    for seed in UInt64(1)...700 {
      let program = Program(seed: seed)
      var model = Model(program)
      for command in program.commands where model.isLegal(command) {
        model.perform(command)
        commands.insert(command.caseName)
        mostStuck = max(mostStuck, model.stuck.count)
      }
      for operation in model.operations {
        ends.insert("\(operation.kind) \(operation.outcome ?? "")")
        if operation.actedInside, let command = operation.inside { inside.insert(command.caseName) }
      }
    }
    #expect(commands.count == 24)
    #expect(inside.count == 15)
    // Each kind can succeed, fail, be cancelled or not finish, except for the kind whose `main()` throws.
    #expect(ends.count == 4 * OperationKind.allCases.count - 1)
    #expect(mostStuck > 3)
  }

  @Test("A failing program is reduced to the smallest one") func shrinking() {
    // As if cancelling operation 0 after adding it to queue 1 were wrong.
    let shrinker = Shrinker { program in
      guard let added = program.commands.firstIndex(of: .add(0, queue: 1)) else { return false }
      return program.commands[added...].contains(.cancel(0))
    }
    let commands: [Command] = [.add(0, queue: 1), .cancel(0)]
    let blueprints = Array(repeating: Blueprint(kind: .held, inside: .cancel(1)), count: 3)
    let noise = Program(seed: 1).commands
    let program = Program(operations: blueprints, commands: noise + [commands[0]] + noise + [commands[1]] + noise)
    let plain = Array(repeating: Blueprint(kind: .plain), count: 3)
    #expect(shrinker.shrink(program) == Program(operations: plain, commands: commands))
  }
}

extension Command {
  fileprivate var caseName: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }
}
