import Synchronization

/// The parts of objects and classes that Headway reads without a documented interface.
///
/// Each part is checked when it is first used. Headway works without a part that another version of Swift lays out
/// differently, except ``operations``. `RuntimeLayoutTests` checks all parts, and that Headway works without them. Run
/// it first with a new toolchain.
enum RuntimeLayout: UInt8 {
  /// The tables of methods in classes: ``OperationOverrides``.
  ///
  /// Without them, each subclass is treated as if it overrides everything.
  case methodTables = 1
  /// The word of an object that holds its reference counts: ``ReferenceCounts``.
  ///
  /// Without it, no memory of operations is used again.
  case referenceCounts = 2
  /// The kind of a job: ``Swift/UnownedJob/task``.
  ///
  /// Without it, a job is not raised when its task is escalated.
  case jobs = 4
  /// The order of an operation's stored properties: ``OperationLayout``.
  ///
  /// Nothing can replace it, so the first queue stops the program.
  case operations = 8

  private static let unknown = Atomic<UInt8>(0)

  var isKnown: Bool { Self.unknown.load(ordering: .relaxed) & rawValue == 0 }

  /// Makes a part unknown, for a test.
  ///
  /// Call this at the beginning of a process, before the part is used.
  func makeUnknown() { Self.unknown.bitwiseOr(rawValue, ordering: .relaxed) }
}
