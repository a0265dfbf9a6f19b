/// The dependencies of an operation that have no slots.
///
/// They are stored in blocks, because their edges must not move.
///
/// A lookup in a long list uses an index, which is created when it is first needed. The lock of the links protects the
/// list and already guarantees exclusive access, so it is not checked again at each access.
final class FurtherDependencies {
  /// The capacity of the first block.
  ///
  /// Each block has twice the capacity of the previous one.
  private static let firstCapacity = 4
  private static let longestSearched = 16

  @exclusivity(unchecked) private var blocks: [UnsafeMutablePointer<FurtherDependency>] = []
  @exclusivity(unchecked) private var count = 0
  /// The positions that are empty and can be reused.
  @exclusivity(unchecked) private var empty: [Int] = []
  @exclusivity(unchecked) private var positions: [UInt: Int]?
  @exclusivity(unchecked) private var nextSequence = 0

  deinit { for block in blocks { block.deallocate() } }

  private func place(_ position: Int) -> UnsafeMutablePointer<FurtherDependency> {
    let number = position / Self.firstCapacity + 1
    let block = Int.bitWidth - 1 - number.leadingZeroBitCount
    return blocks[block] + (position - Self.firstCapacity * ((1 << block) - 1))
  }

  /// Adds a dependency, which the list owns from now on.
  ///
  /// - Parameters:
  ///   - dependency: The dependency, retained.
  ///   - dependent: The operation that has these dependencies.
  ///   - isUnlinked: True if the edge is in no stack and never will be.
  /// - Returns: The edge of the dependency.
  func append(_ dependency: OperationReference, of dependent: Operation, isUnlinked: Bool) -> Edge {
    let position = empty.popLast() ?? count
    if position == count {
      count += 1
      if count > Self.firstCapacity * ((1 << blocks.count) - 1) {
        blocks.append(.allocate(capacity: Self.firstCapacity << blocks.count))
      }
    }
    let address = UInt(bitPattern: dependency.toOpaque())
    place(position).initialize(
      to: FurtherDependency(
        dependency: address | (isUnlinked ? 1 : 0), dependent: OperationReference(dependent), sequence: nextSequence))
    nextSequence += 1
    positions?[address] = position
    return Edge(place(position))
  }

  /// The position of a dependency, or nil if it is not in the list.
  func position(of dependency: OperationReference) -> Int? {
    let address = UInt(bitPattern: dependency.toOpaque())
    if count <= Self.longestSearched { return (0..<count).first { place($0).pointee.dependency & ~1 == address } }
    if positions == nil {
      var index = [UInt: Int](minimumCapacity: count)
      for position in 0..<count { index[place(position).pointee.dependency & ~1] = position }
      index[0] = nil
      positions = index
    }
    return positions?[address]
  }

  func edge(at position: Int) -> Edge { Edge(place(position)) }

  func isUnlinked(at position: Int) -> Bool { place(position).pointee.dependency & 1 != 0 }

  /// Marks an edge as unlinked: no stack contains it, and none ever will.
  ///
  /// If the place is empty, nothing happens.
  func markUnlinked(at position: Int) {
    if place(position).pointee.dependency != 0 { place(position).pointee.dependency |= 1 }
  }

  /// Gives up the ownership of a dependency whose edge is unlinked.
  func remove(at position: Int) {
    positions?[place(position).pointee.dependency & ~1] = nil
    place(position).pointee.dependency = 0
    empty.append(position)
  }

  /// Calls `body` with each dependency, in insertion order.
  func forEach(_ body: (_ dependency: OperationReference, _ position: Int, _ isUnlinked: Bool) -> Void) {
    var listed = (0..<count).filter { place($0).pointee.dependency != 0 }
    if nextSequence > count { listed.sort { place($0).pointee.sequence < place($1).pointee.sequence } }
    for position in listed {
      let dependency = place(position).pointee.dependency
      body(.fromOpaque(UnsafeRawPointer(bitPattern: dependency & ~1)!), position, dependency & 1 != 0)
    }
  }

  /// Calls `body` with each dependency, in any order.
  func forEachUnordered(_ body: (OperationReference) -> Void) {
    for position in 0..<count {
      if let dependency = UnsafeRawPointer(bitPattern: place(position).pointee.dependency & ~1) {
        body(.fromOpaque(dependency))
      }
    }
  }
}
