/// Which members of ``Operation`` a subclass overrides, where that decides what the library may do by itself.
///
/// A cancelled operation leaves its queue at once only if no code of its subclass has to run for that; and the end of
/// an operation with an `isFinished` of its own is the subclass's to announce. A call can't tell: `start()` has
/// effects. So this compares entries of the tables by which Swift dispatches calls: a subclass that does not override a
/// member has the entry of ``Operation`` there.
///
/// Where in the table the entries are is found, once, by what sets apart classes that override one member from one that
/// overrides none. If that is not just one entry, as where entries are signed (arm64e), every subclass counts as
/// overriding the member, and is handled with more care than it may need. The layout of class metadata is from
/// https://github.com/swiftlang/swift/blob/main/docs/ABI/TypeMetadata.rst.
enum OperationOverrides {
  /// Where the entry of a member stands, counted in words from the start of a class; nil if it was not found.
  private static let start = entry { StartOverride.self }
  private static let isFinished = entry { IsFinishedOverride.self }
  private static let isReady = entry { IsReadyOverride.self }
  private static let dependentKeys = entry { DependentKeysOverride.self }

  static func hasStart(_ type: Operation.Type) -> Bool { overrides(start, type) }
  static func hasIsFinished(_ type: Operation.Type) -> Bool { overrides(isFinished, type) }
  static func hasIsReady(_ type: Operation.Type) -> Bool { overrides(isReady, type) }
  static func hasDependentKeys(_ type: Operation.Type) -> Bool { overrides(dependentKeys, type) }

  private static func overrides(_ entry: Int?, _ type: Operation.Type) -> Bool {
    guard let entry else { return type != Operation.self && type != BlockOperation.self }
    return words(of: type)[entry] != words(of: Operation.self)[entry]
  }

  private static func entry(of overriding: () -> Operation.Type) -> Int? {
    let (base, other, wanted) = (words(of: Operation.self), words(of: NoOverride.self), words(of: overriding()))
    let candidates = (0..<wordCount).filter { base[$0] == other[$0] && base[$0] != wanted[$0] }
    return candidates.count == 1 ? candidates[0] : nil
  }

  private static func words(of type: Operation.Type) -> UnsafePointer<UInt> {
    unsafeBitCast(type, to: UnsafePointer<UInt>.self)
  }

  /// How many words of ``Operation``'s metadata there are from where a reference to the class points.
  private static var wordCount: Int {
    #if canImport(ObjectiveC)
    let sizes = 7
    #else
    let sizes = 4
    #endif
    // The size of the class, and how much of that is before where a reference points.
    let (size, addressPoint) = UnsafeRawPointer(words(of: Operation.self) + sizes).load(as: (UInt32, UInt32).self)
    return Int(size - addressPoint) / MemoryLayout<UInt>.size
  }

  // MARK: Classes to compare

  private final class NoOverride: Operation, @unchecked Sendable {}

  private final class StartOverride: Operation, @unchecked Sendable {
    override func start() {}
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
  /// Code of the subclass runs when a queue starts it cancelled.
  final var hasCodeForCancelled: Bool { OperationOverrides.hasStart(type(of: self)) || overridesIsFinished }

  /// The subclass says when it has finished.
  final var overridesIsFinished: Bool { OperationOverrides.hasIsFinished(type(of: self)) }

  /// The subclass may hold the operation back.
  final var overridesIsReady: Bool { OperationOverrides.hasIsReady(type(of: self)) }
}
