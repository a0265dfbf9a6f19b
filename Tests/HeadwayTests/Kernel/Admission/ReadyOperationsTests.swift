import HeadwayTestKit
import Testing

@testable import Headway

@Suite("Ready operations", .hangLimit) struct ReadyOperationsTests {
  /// The ready operations of a segment, next to the same operations in an array.
  private struct Pair {
    var ready = ReadyOperations()
    var model: [(operation: Headway.Operation, level: Int)] = []

    mutating func insert(_ operation: Headway.Operation, level: Int) {
      ready.insert(operation, level: level)
      model.append((operation, level))
    }

    mutating func remove(at position: Int) { ready.remove(model.remove(at: position).operation) }

    mutating func popFirst() -> (actual: Headway.Operation?, expected: Headway.Operation?) {
      model.sort { left, right in
        left.level == right.level
          ? left.operation.queueLinks.sequence < right.operation.queueLinks.sequence : left.level > right.level
      }
      return (ready.popFirst()?.operation, model.isEmpty ? nil : model.removeFirst().operation)
    }

    mutating func append(_ other: Pair) {
      ready.append(other.ready)
      model += other.model
    }
  }

  @Test(
    "P2: operations are ordered by priority and insertion after any insertions, removals, and additions",
    arguments: 1...500)
  func random(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    // The numbers in each segment are greater than the numbers in the segment before. Within a segment, they are in any
    // order.
    var segments = (0..<4).map { _ in Pair() }
    var numbers = [0, 100, 200, 300].map { (first: UInt64) in Array(first..<first + 100).shuffled(using: &generator) }
    if seed % 2 == 0 { numbers = numbers.map { $0.sorted(by: >) } }
    for step in 0..<400 {
      let chosen = Int.random(in: 0..<segments.count, using: &generator)
      switch Int.random(in: 0..<100, using: &generator) {
      case 0..<55:
        guard let number = numbers[chosen].popLast() else { continue }
        let operation = BlockOperation {}
        operation.queueLinks.sequence = number
        segments[chosen].insert(operation, level: Int.random(in: 0..<5, using: &generator))
      case 55..<70:
        guard let position = segments[chosen].model.indices.randomElement(using: &generator) else { continue }
        segments[chosen].remove(at: position)
      case 70..<98:
        let (actual, expected) = segments[chosen].popFirst()
        guard actual === expected else {
          Issue.record("seed \(seed), step \(step): another operation was taken")
          return
        }
      default:
        guard segments.count > 1 else { continue }
        segments[0].append(segments.remove(at: 1))
        numbers[0] += numbers.remove(at: 1)
        numbers[0].shuffle(using: &generator)
      }
      guard segments.allSatisfy({ $0.ready.count == $0.model.count && $0.ready.isEmpty == $0.model.isEmpty }) else {
        Issue.record("seed \(seed), step \(step): the count is wrong")
        return
      }
    }
    while segments.count > 1 { segments[0].append(segments.remove(at: 1)) }
    repeat {
      let (actual, expected) = segments[0].popFirst()
      #expect(actual === expected, "seed \(seed)")
    } while !segments[0].model.isEmpty
    #expect(segments[0].ready.popFirst() == nil)
  }

  @Test("P2: a removed operation can be inserted again, at another level") func again() {
    var ready = ReadyOperations()
    let operations = (0..<20).map { number in
      let operation = BlockOperation {}
      operation.queueLinks.sequence = UInt64(number)
      return operation
    }
    for operation in operations.reversed() { ready.insert(operation, level: 2) }
    for operation in operations { ready.remove(operation) }
    #expect(ready.isEmpty && ready.popFirst() == nil)
    for (number, operation) in operations.enumerated() { ready.insert(operation, level: number % 5) }
    var order: [UInt64] = []
    while let operation = ready.popFirst() { order.append(operation.sequence) }
    // The list does not own them.
    withExtendedLifetime(operations) {}
    let expected: [UInt64] = [4, 9, 14, 19, 3, 8, 13, 18, 2, 7, 12, 17, 1, 6, 11, 16, 0, 5, 10, 15]
    #expect(order == expected)
  }
}

@Suite("Identity list", .hangLimit) struct IdentityListTests {
  @Test("D1: the list keeps the order, and finds and removes elements, short or long", arguments: [4, 16, 17, 40, 400])
  func random(size: Int) {
    var generator = SeededGenerator(seed: UInt64(size))
    var list = IdentityList<Edge>()
    var model: [Edge] = []
    let operations = (0..<size).map { _ in BlockOperation {} }
    defer { withExtendedLifetime(operations) {} }
    let edges = operations.map { Edge(slot: 0, of: $0) }
    for step in 0..<5_000 {
      let edge = edges[Int.random(in: 0..<size, using: &generator)]
      let isThere = model.contains { $0 == edge }
      // Fills up and empties by turns.
      let isFilling = step / (2 * size) % 2 == 0
      guard list.contains(edge) == isThere else {
        Issue.record("size \(size), step \(step): found is \(!isThere)")
        return
      }
      if isThere && (!isFilling || Bool.random(using: &generator)) {
        let wasThere = list.remove(edge)
        #expect(wasThere)
        model.removeAll { $0 == edge }
      } else if !isThere && isFilling {
        list.append(edge)
        model.append(edge)
      } else if !isThere {
        let wasThere = list.remove(edge)
        #expect(!wasThere)
      }
      guard list.elements.count == model.count, list.isEmpty == model.isEmpty, list.elements == model
      else {
        Issue.record("size \(size), step \(step): \(list.elements.count) elements, and should be \(model.count)")
        return
      }
    }
  }
}

@Suite("First in, first out", .hangLimit) struct FirstInFirstOutTests {
  @Test("T1: elements are removed in the order of appending, in any pattern of use", arguments: 1...20)
  func random(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var queue = FirstInFirstOut<Int>()
    var model: [Int] = []
    for step in 0..<5_000 {
      let isFilling = step / 700 % 2 == 0
      if Int.random(in: 0..<10, using: &generator) < (isFilling ? 7 : 3) {
        queue.append(step)
        model.append(step)
      } else {
        #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
      }
      if let position = model.indices.randomElement(using: &generator) {
        #expect(queue[position] == model[position])
        queue[position] = -step
        model[position] = -step
      }
      #expect(queue.count == model.count && queue.isEmpty == model.isEmpty)
    }
  }

  @Test("T1: the list releases the elements that it returns") func letsGo() {
    let census = Crowd()
    var queue = FirstInFirstOut<Captured>()
    for _ in 0..<3_000 { queue.append(Captured(census)) }
    for remaining in (0..<3_000).reversed() {
      _ = queue.popFirst()
      #expect(census.now == remaining)
    }
  }
}
