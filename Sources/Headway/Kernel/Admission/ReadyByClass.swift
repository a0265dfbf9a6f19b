/// The operations that could start, by the class of workers that run them.
///
/// Each case is handled separately, and functions that only read are inlined. Otherwise, reading could copy the lists.
/// A copy would read cache lines that other threads write.
struct ReadyByClass {
  private var normal = ReadyOperations()
  private var utility = ReadyOperations()
  private var background = ReadyOperations()
  /// How many of these operations are more urgent than the queue.
  private(set) var urgent = UrgentCounts()

  var isEmpty: Bool { normal.isEmpty && utility.isEmpty && background.isEmpty }

  @inline(__always)
  var counts: PerClass<Int> { PerClass(normal: normal.count, utility: utility.count, background: background.count) }

  @inline(__always)
  func count(_ workerClass: WorkerClass) -> Int {
    switch workerClass {
    case .normal: normal.count
    case .utility: utility.count
    case .background: background.count
    }
  }

  /// Returns how many operations have this class or a less urgent class.
  @inline(__always)
  func count(downFrom workerClass: WorkerClass) -> Int {
    switch workerClass {
    case .normal: normal.count + utility.count + background.count
    case .utility: utility.count + background.count
    case .background: background.count
    }
  }

  /// The operation that ``popFirst(_:)`` would remove, with its level.
  @inline(__always)
  func first(_ workerClass: WorkerClass) -> (OperationReference, level: Int)? {
    switch workerClass {
    case .normal: normal.first
    case .utility: utility.first
    case .background: background.first
    }
  }

  mutating func popFirst(_ workerClass: WorkerClass) -> OperationReference? {
    if !urgent.isZero, let reference = first(workerClass)?.0 { reference._withUnsafeGuaranteedRef { uncount($0) } }
    return switch workerClass {
    case .normal: normal.popFirst()
    case .utility: utility.popFirst()
    case .background: background.popFirst()
    }
  }

  /// Removes and returns the first operation, with its level, if it fulfills a condition.
  mutating func popFirst(
    _ workerClass: WorkerClass, where condition: (Operation) -> Bool
  ) -> (OperationReference, level: Int)? {
    if !urgent.isZero {
      guard let (reference, level) = first(workerClass), reference._withUnsafeGuaranteedRef(condition) else {
        return nil
      }
      reference._withUnsafeGuaranteedRef { remove($0) }
      return (reference, level)
    }
    return switch workerClass {
    case .normal: normal.popFirst(where: condition)
    case .utility: utility.popFirst(where: condition)
    case .background: background.popFirst(where: condition)
    }
  }

  /// Counts an operation of a list as more urgent than the queue.
  ///
  /// Ignores the lowest class.
  mutating func count(_ operation: Operation, asUrgent urgency: WorkerClass) {
    guard urgency != .background else { return }
    operation.admission.urgency = urgency
    urgent.change(urgency, by: 1)
  }

  private mutating func uncount(_ operation: Operation) {
    guard operation.admission.isUrgent else { return }
    urgent.change(operation.admission.urgency, by: -1)
    operation.admission.urgency = .background
  }

  /// Inserts an operation into the list of the class in its record.
  mutating func insert(_ operation: Operation, level: Int) {
    switch operation.admission.workerClass {
    case .normal: normal.insert(operation, level: level)
    case .utility: utility.insert(operation, level: level)
    case .background: background.insert(operation, level: level)
    }
  }

  mutating func remove(_ operation: Operation) {
    if !urgent.isZero { uncount(operation) }
    switch operation.admission.workerClass {
    case .normal: normal.remove(operation)
    case .utility: utility.remove(operation)
    case .background: background.remove(operation)
    }
  }

  /// Moves all operations into the lists of the classes that they belong to now.
  mutating func sort(by placement: Placement) {
    var old = self
    self = ReadyByClass()
    for workerClass in WorkerClass.allCases {
      while let (reference, level) = old.first(workerClass) {
        _ = old.popFirst(workerClass)
        reference._withUnsafeGuaranteedRef { operation in
          operation.admission.workerClass = placement.workerClass(of: operation)
          insert(operation, level: level)
          count(operation, asUrgent: placement.urgency(of: operation.state.current))
        }
      }
    }
  }

  /// Appends all operations of `other`, which were added after the operations of this list.
  ///
  /// O(1).
  mutating func append(_ other: Self) {
    normal.append(other.normal)
    utility.append(other.utility)
    background.append(other.background)
    urgent.add(other.urgent)
  }

  /// The class of the operation that precedes all others, by priority and then by insertion order.
  @inline(__always)
  var firstClass: WorkerClass? {
    // Usually there is only one class.
    if utility.isEmpty, background.isEmpty { return normal.isEmpty ? nil : .normal }
    return Self.firstClass(of: PerClass(normal: normal.first, utility: utility.first, background: background.first))
  }

  private static func firstClass(of candidates: PerClass<(OperationReference, level: Int)?>) -> WorkerClass? {
    var best: (reference: OperationReference, level: Int, workerClass: WorkerClass)?
    PerClass<Int>.forEachClass { workerClass in
      guard let (reference, level) = candidates[workerClass] else { return }
      // The representatives of a key have the same turn.
      if let found = best,
        found.level > level
          || (found.level == level
            && (found.reference.turn, found.reference.sequence) < (reference.turn, reference.sequence))
      {
        return
      }
      best = (reference, level, workerClass)
    }
    return best?.workerClass
  }

  /// The highest level of priority among the operations.
  var highestLevel: Int? {
    WorkerClass.allCases.lazy.compactMap { first($0)?.level }.max()
  }
}
