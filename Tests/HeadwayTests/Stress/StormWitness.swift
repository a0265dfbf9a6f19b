import Synchronization

@testable import Headway

/// Checks what happens in a storm of policies.
final class StormWitness: Sendable {
  private struct State {
    var violations: [String] = []
    /// How many operations use a resource exclusively, and how many share it.
    var users: [String: (exclusive: Int, sharing: Int)] = [:]
    /// How many operations run, by the limit that they count toward.
    var running: [String: Int] = [:]
  }

  private let state = Mutex(State())
  private let held = Atomic<Int>(0)

  var violations: [String] { state.withLock { $0.violations } }

  func check(_ condition: Bool, _ violation: @autoclosure () -> String) {
    if !condition { state.withLock { $0.violations.append(violation()) } }
  }

  /// An object that each function of the storm refers to.
  final class Held: Sendable {
    private let witness: StormWitness

    init(_ witness: StormWitness) {
      self.witness = witness
      witness.held.add(1, ordering: .relaxed)
    }

    deinit { witness.held.subtract(1, ordering: .relaxed) }
  }

  /// The number of these objects that exist.
  var heldCount: Int { held.load(ordering: .relaxed) }

  /// Notes that an operation begins or continues.
  ///
  /// - Parameters:
  ///   - policy: The policy of the operation.
  ///   - limits: The limits that the operation counts toward, by name.
  func enter(_ policy: OperationPolicy, _ limits: [String: Int]) {
    state.withLock { state in
      for name in policy.exclusiveResources {
        let users = state.users[name] ?? (0, 0)
        if users != (0, 0) { state.violations.append("\(name) is used by \(users) and exclusively") }
        state.users[name] = (users.exclusive + 1, users.sharing)
      }
      for name in policy.sharedResources {
        let users = state.users[name] ?? (0, 0)
        if users.exclusive > 0 { state.violations.append("\(name) is used exclusively and shared") }
        state.users[name] = (users.exclusive, users.sharing + 1)
      }
      for (name, limit) in limits {
        state.running[name, default: 0] += 1
        if state.running[name, default: 0] > limit { state.violations.append("\(name) exceeds its limit of \(limit)") }
      }
    }
  }

  /// Notes that an operation is about to end or to pause.
  func leave(_ policy: OperationPolicy, _ limits: [String: Int]) {
    state.withLock { state in
      for name in policy.exclusiveResources { state.users[name]?.exclusive -= 1 }
      for name in policy.sharedResources { state.users[name]?.sharing -= 1 }
      for name in limits.keys { state.running[name]? -= 1 }
    }
  }
}
