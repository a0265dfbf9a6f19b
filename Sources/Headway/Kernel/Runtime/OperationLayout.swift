import Synchronization

/// Locates the parts of an operation that a thread reads without a reference to the operation.
///
/// Access to an object through a reference, even an unmanaged one, may retain the object for that time, as builds
/// without optimization do. If all other threads release their references in the meantime, the reading thread would
/// free the operation. But that thread holds a lock, or the deinitialization waits for it. Therefore, these parts are
/// accessed through their addresses.
enum OperationLayout {
  /// Stops the program if the parts are elsewhere.
  static func requireKnown() {
    require(
      isKnown,
      "This version of Headway does not work with this version of Swift: update Headway, or use an earlier Swift.")
  }

  /// Compares the values that an operation returns with the contents of its memory.
  private static let isKnown: Bool = {
    let (operation, dependencies) = (BlockOperation(), (0..<DependencySlot.count).map { _ in BlockOperation() })
    for dependency in dependencies { operation.addDependency(dependency) }
    operation.completionBlock = {}
    let reference = OperationReference(operation)
    let areSlotsKnown = dependencies.indices.allSatisfy { number in
      slot(number, of: reference).pointee.dependency.load(ordering: .relaxed)
        == operation.withSlot(number) { $0.dependency.load(ordering: .relaxed) }
    }
    return RuntimeLayout.operations.isKnown && areSlotsKnown
      && state(of: reference).pointee.current.rawValue == operation.state.current.rawValue
      && details(of: reference) == operation.links.withLock { $0.details }
  }()

  /// The size of the header of a Swift object: its class and its reference counts.
  private static var headerSize: Int { 2 * MemoryLayout<UInt>.size }

  private static var stateOffset: Int { place(of: OperationStateMachine.self, behind: headerSize).start }

  /// The offset behind the links, which come last in the lock that protects them.
  private static var linksEnd: Int {
    place(
      of: Guarded<Operation.Links>.self, behind: place(of: OperationStateMachine.self, behind: headerSize).end
    ).end
  }

  private static var firstSlotOffset: Int {
    let dependents = place(of: DependentStack.self, behind: linksEnd).end
    return place(of: DependencySlot.self, behind: dependents).start
  }

  /// The range of a stored property of the type `Part`, after another property.
  @inline(__always)
  private static func place<Part: ~Copyable>(of _: Part.Type, behind offset: Int) -> (start: Int, end: Int) {
    let mask = MemoryLayout<Part>.alignment - 1
    let start = (offset + mask) & ~mask
    return (start, start + MemoryLayout<Part>.size)
  }

  /// The state of an operation whose memory still exists.
  @inline(__always)
  static func state(of operation: OperationReference) -> UnsafePointer<OperationStateMachine> {
    (UnsafeRawPointer(operation.toOpaque()) + stateOffset).assumingMemoryBound(to: OperationStateMachine.self)
  }

  /// The details of an operation that is known to have some, which are never replaced, without the lock of the links.
  @inline(__always)
  static func details(of operation: OperationReference) -> UnsafeMutablePointer<OperationDetails> {
    // They are the first property of the links.
    let offset = linksEnd - MemoryLayout<Operation.Links>.size
    return operation.toOpaque().load(fromByteOffset: offset, as: UnsafeMutablePointer<OperationDetails>.self)
  }

  /// One of the operation's slots, numbered from 0.
  ///
  /// There is no padding between them.
  @inline(__always)
  static func slot(_ number: Int, of operation: OperationReference) -> UnsafePointer<DependencySlot> {
    let offset = firstSlotOffset + number * MemoryLayout<DependencySlot>.stride
    return (UnsafeRawPointer(operation.toOpaque()) + offset).assumingMemoryBound(to: DependencySlot.self)
  }
}
