/// Determines whether a subclass overrides the members of ``Operation`` that affect how Headway runs it.
///
/// A cancelled operation leaves its queue immediately only if no code of its subclass must run first. If a subclass
/// overrides `isFinished`, the subclass announces when the operation has finished. Calling a member can't reveal
/// whether it is overridden, because `start()` has effects. Therefore, this type compares entries of the tables that
/// Swift uses to dispatch calls. If a subclass does not override a member, its table has ``Operation``'s entry.
///
/// The positions of the entries in the table are determined once, by comparing classes that override one member with a
/// class that overrides none. If the tables differ in more than one entry, for example because entries are signed
/// (arm64e), every subclass counts as overriding the member. It is then handled with more care than it may need. The
/// layout of class metadata is from https://github.com/swiftlang/swift/blob/main/docs/ABI/TypeMetadata.rst.
///
/// See `Docs/decisions/0015-overrides.md`.
enum OperationOverrides {
  /// The position of a member's entry, in words from the start of a class; nil if it was not found.
  private static let start = entry { StartOverride.self }
  private static let cancel = entry { CancelOverride.self }
  private static let isFinished = entry { IsFinishedOverride.self }
  private static let isReady = entry { IsReadyOverride.self }
  private static let dependentKeys = entry { DependentKeysOverride.self }

  static func hasStart(_ type: Operation.Type) -> Bool { overrides(start, type) }
  static func hasCancel(_ type: Operation.Type) -> Bool { overrides(cancel, type) }
  static func hasIsFinished(_ type: Operation.Type) -> Bool { overrides(isFinished, type) }
  static func hasIsReady(_ type: Operation.Type) -> Bool { overrides(isReady, type) }
  static func hasDependentKeys(_ type: Operation.Type) -> Bool { overrides(dependentKeys, type) }

  private static func overrides(_ entry: Int?, _ type: Operation.Type) -> Bool {
    guard let entry else { return type != Operation.self && type != BlockOperation.self }
    return words(of: type)[entry] != words(of: Operation.self)[entry]
  }

  private static func entry(of overriding: () -> Operation.Type) -> Int? {
    guard RuntimeLayout.methodTables.isKnown else { return nil }
    let (base, other, wanted) = (words(of: Operation.self), words(of: NoOverride.self), words(of: overriding()))
    let candidates = (0..<wordCount).filter { base[$0] == other[$0] && base[$0] != wanted[$0] }
    return candidates.count == 1 ? candidates[0] : nil
  }

  private static func words(of type: Operation.Type) -> UnsafePointer<UInt> {
    unsafeBitCast(type, to: UnsafePointer<UInt>.self)
  }

  /// The number of words of ``Operation``'s metadata that follow the address that a reference to the class contains.
  private static var wordCount: Int {
    #if canImport(ObjectiveC)
    let sizes = 7
    #else
    let sizes = 4
    #endif
    // The size of the class, and the size of the part before that address.
    let (size, addressPoint) = UnsafeRawPointer(words(of: Operation.self) + sizes).load(as: (UInt32, UInt32).self)
    return Int(size - addressPoint) / MemoryLayout<UInt>.size
  }

  // MARK: Classes to compare

  private final class NoOverride: Operation, @unchecked Sendable {}

  private final class StartOverride: Operation, @unchecked Sendable {
    override func start() {}
  }

  private final class CancelOverride: Operation, @unchecked Sendable {
    override func cancel() {}
  }

  private final class IsFinishedOverride: Operation, @unchecked Sendable {
    override var isFinished: Bool { true }
  }

  private final class IsReadyOverride: Operation, @unchecked Sendable {
    override var isReady: Bool { true }
  }

  private final class DependentKeysOverride: Operation, @unchecked Sendable {
    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { ["state"] }
  }
}

extension Operation {
  /// Whether code of the subclass runs when a queue starts the operation after it was cancelled.
  final var hasCodeForCancelled: Bool { OperationOverrides.hasStart(type(of: self)) || overridesIsFinished }

  /// Whether code of the subclass runs when the operation is cancelled.
  final var overridesCancel: Bool { OperationOverrides.hasCancel(type(of: self)) }

  /// Whether the subclass decides when the operation has finished.
  final var overridesIsFinished: Bool { OperationOverrides.hasIsFinished(type(of: self)) }

  /// Whether the subclass can hold the operation back.
  final var overridesIsReady: Bool { OperationOverrides.hasIsReady(type(of: self)) }
}
