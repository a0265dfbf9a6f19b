import Headway

/// A difference between the library and the model.
struct Divergence: Equatable, CustomStringConvertible {
  let command: String
  let difference: String

  var description: String { "after “\(command)”: \(difference)" }
}

/// A program that the model and the library execute side by side.
struct ProgramRun {
  private let program: Program
  private var model: Model
  private let real: RealProgram
  private let patience: Int

  /// The first difference between the two, if any; with the patience of `eventually`.
  static func divergence(_ program: Program, patience: Int = 240_000) -> Divergence? {
    var run = ProgramRun(program, patience)
    if let divergence = run.run() { return divergence }
    let isAlive = run.real.isAlive
    run = ProgramRun(Program(operations: [], commands: []), patience)
    return eventually(patience: patience) { !isAlive() }
      ? nil : Divergence(command: "release all", difference: "not all was freed")
  }

  private init(_ program: Program, _ patience: Int) {
    self.program = program
    self.patience = patience
    model = Model(program)
    real = RealProgram(program)
  }

  private mutating func run() -> Divergence? {
    for command in program.commands {
      if let divergence = perform(command) { return divergence }
    }
    return end()
  }

  /// Cancels all remaining operations.
  ///
  /// They then end even if suspended, and with any limit. Only operations with cancellation code end when that code may
  /// run.
  private mutating func end() -> Divergence? {
    let numbers = Array(program.operations.indices)
    var commands = numbers.map { Command.cancel($0) } + numbers.map { .finish($0, isFailure: false) }
    commands += (0..<Program.queueCount).map { .run(queue: $0) }
    commands += numbers.map { .start($0) }
    commands += (0..<Program.queueCount).flatMap { queue -> [Command] in
      [.suspend(queue: queue, false), .limit(queue: queue, -1), .run(queue: queue)]
    }
    commands += (0..<Program.queueCount).map { .waitForAll(queue: $0) }
    for command in commands {
      if let divergence = perform(command) { return divergence }
    }
    let isOver = real.operations.allSatisfy { $0?.operation.isFinished != false }
    return isOver ? nil : Divergence(command: "cancel all", difference: "not all has finished")
  }

  /// Skips commands that would be misuse.
  private mutating func perform(_ command: Command) -> Divergence? {
    guard model.isLegal(command) else { return nil }
    model.perform(command)
    real.actingInside = Set(model.operations.indices.filter { model.operations[$0].actedInside })
    real.perform(command)
    awaitPool()
    let difference = Picture(real).firstDifference(from: Picture(model)) ?? wrongCycle
    return difference.map { Divergence(command: "\(command)", difference: $0) }
  }

  /// Threads of the pool call the completion blocks of operations that were in no queue, then release the dependencies.
  private func awaitPool() {
    for (operation, real) in zip(model.operations, real.operations) {
      guard let real, !operation.wasAdded, !operation.completions.isEmpty else { continue }
      _ = eventually(patience: patience) {
        real.witness.seen.completions.count >= operation.completions.count
          && real.operation.dependencies.count <= operation.dependencies.count
      }
    }
  }

  /// Describes a reported cycle that is not one; the check also makes queries, which must be possible at any time.
  private var wrongCycle: String? {
    for (number, operation) in real.operations.enumerated() {
      guard let operation = operation?.operation else { continue }
      if operation.diagnosis.isEmpty { return "operation \(number), no diagnosis" }
      guard let cycle = operation.firstDependencyCycle()?.map(real.number) else { continue }
      for (waiting, next) in zip(cycle, cycle.dropFirst() + cycle.prefix(1))
      where !model.obstacles(of: waiting).contains(next) {
        return "operation \(number), firstDependencyCycle(): \(cycle), where \(waiting) does not wait for \(next)"
      }
    }
    return nil
  }
}
