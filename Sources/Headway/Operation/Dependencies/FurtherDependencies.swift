/// The dependencies of an operation for which there are no slots: in blocks, since their edges stay where they are.
///
/// Looking one up takes an index, which is made when it is first needed. Protected by the lock of the links, which
/// excludes others; so that is not checked once more at each access.
final class FurtherDependencies {
  /// Of the first block; each has twice as many as the one before.
  private static let firstCapacity = 4
  private static let longestSearched = 16

  @exclusivity(unchecked) private var blocks: [UnsafeMutablePointer<FurtherDependency>] = []
  @exclusivity(unchecked) private var count = 0
  /// The positions that are empty and may be used again.
  @exclusivity(unchecked) private var empty: [Int] = []
  @exclusivity(unchecked) private var positions: [UInt: Int]?
  @exclusivity(unchecked) private var nextSequence = 0

  deinit { for block in blocks { block.deallocate() } }

  private func place(_ position: Int) -> UnsafeMutablePointer<FurtherDependency> {
    let number = position / Self.firstCapacity + 1
    let block = Int.bitWidth - 1 - number.leadingZeroBitCount
    return blocks[block] + (position - Self.firstCapacity * (1 << block - 1))
  }

  /// Lists a dependency, which it owns from now on.
  ///
  /// - Parameters:
  ///   - dependency: The dependency.
  ///   - dependent: Whose dependencies these are.
  ///   - isUnlinked: The edge comes in no stack.
  /// - Returns: The edge.
  func append(_ dependency: OperationReference, of dependent: Operation, isUnlinked: Bool) -> Edge {
    let position = empty.popLast() ?? count
    if position == count {
      count += 1
      if count > Self.firstCapacity * (1 << blocks.count - 1) {
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

  /// Where a dependency is listed, or nil.
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

  /// The edge is in no stack, and comes in none.
  ///
  /// Nothing if the place is empty.
  func markOut(at position: Int) {
    if place(position).pointee.dependency != 0 { place(position).pointee.dependency |= 1 }
  }

  /// Gives up the ownership of a dependency, whose edge is in no stack and comes in none.
  func remove(at position: Int) {
    positions?[place(position).pointee.dependency & ~1] = nil
    place(position).pointee.dependency = 0
    empty.append(position)
  }

  /// Calls `body` with each, in the order of adding.
  func forEach(_ body: (_ dependency: OperationReference, _ position: Int, _ isUnlinked: Bool) -> Void) {
    var listed = (0..<count).filter { place($0).pointee.dependency != 0 }
    if nextSequence > count { listed.sort { place($0).pointee.sequence < place($1).pointee.sequence } }
    for position in listed {
      let dependency = place(position).pointee.dependency
      body(.fromOpaque(UnsafeRawPointer(bitPattern: dependency & ~1)!), position, dependency & 1 != 0)
    }
  }

  /// Calls `body` with each, in any order.
  func forEachUnordered(_ body: (OperationReference) -> Void) {
    for position in 0..<count {
      if let dependency = UnsafeRawPointer(bitPattern: place(position).pointee.dependency & ~1) {
        body(.fromOpaque(dependency))
      }
    }
  }
}
