/// Where in an operation the parts are at which a thread looks that has no reference to it.
///
/// A look at an object through a reference, even an unmanaged one, may retain it for that long, as builds without
/// optimization do. If all others drop theirs meanwhile, the operation would be freed by the thread that looks, which
/// has a lock, or for which the deinitialization waits. So these parts are reached by their addresses.
enum OperationLayout {
  /// Of an object of Swift's: its class and its counts of references.
  private static var headerSize: Int { 2 * MemoryLayout<UInt>.size }

  private static var stateOffset: Int { place(of: OperationStateMachine.self, behind: headerSize).start }

  private static var firstSlotOffset: Int {
    let state = place(of: OperationStateMachine.self, behind: headerSize).end
    let links = place(of: Guarded<Operation.Links>.self, behind: state).end
    let dependents = place(of: DependentStack.self, behind: links).end
    return place(of: DependencySlot.self, behind: dependents).start
  }

  /// Where a stored property is whose type is `Part`, behind another one.
  @inline(__always)
  private static func place<Part: ~Copyable>(of _: Part.Type, behind offset: Int) -> (start: Int, end: Int) {
    let mask = MemoryLayout<Part>.alignment - 1
    let start = (offset + mask) & ~mask
    return (start, start + MemoryLayout<Part>.size)
  }

  /// The state of an operation whose memory is there.
  @inline(__always)
  static func state(of operation: OperationReference) -> UnsafePointer<OperationStateMachine> {
    (UnsafeRawPointer(operation.toOpaque()) + stateOffset).assumingMemoryBound(to: OperationStateMachine.self)
  }

  /// One of its slots, from 0; there is no padding between them.
  @inline(__always)
  static func slot(_ number: Int, of operation: OperationReference) -> UnsafePointer<DependencySlot> {
    let offset = firstSlotOffset + number * MemoryLayout<DependencySlot>.stride
    return (UnsafeRawPointer(operation.toOpaque()) + offset).assumingMemoryBound(to: DependencySlot.self)
  }
}
