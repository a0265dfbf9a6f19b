import Headway
import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@Suite("Results of operations", .hangLimit) struct OperationResultsTests {
  @Test("B3, Q13: results arrive in input order, or as soon as they are available")
  func order() async throws {
    let queue = OperationQueue(limit: 4)
    let crowd = Crowd()
    let squares = queue.results(of: 0..<500) { number in
      crowd.enter()
      await Task.yield()
      crowd.leave()
      return number * number
    }
    var all: [Int] = []
    for try await square in squares { all.append(square) }
    let expected: [Int] = (0..<500).map { number in number * number }
    #expect(all == expected)
    #expect(crowd.most <= 4)
    // Once more, from the beginning.
    all = []
    for try await square in squares { all.append(square) }
    #expect(all == expected)
  }

  @Test("B3: an available result does not wait for an earlier result, unless the order matters")
  func asTheyCome() async throws {
    let queue = OperationQueue()
    let (entered, late) = AsyncStream.makeStream(of: Void.self)
    let results = queue.results(of: [1, 2], inOrder: false) { number in
      if number == 1 { for await _ in entered { break } }
      return number
    }
    var iterator = results.makeAsyncIterator()
    #expect(try await iterator.next() == 2)
    late.yield()
    #expect(try await iterator.next() == 1)
    #expect(try await iterator.next() == nil)
    #expect(try await iterator.next() == nil)
  }

  @Test("Q13: with infinite inputs, no more than the window are in progress or wait to be consumed")
  func window() async throws {
    let queue = OperationQueue()
    for isInOrder in [true, false] {
      let made = Mutex(0)
      var taken = 0
      let results = queue.results(of: 1..., inOrder: isInOrder, maxInFlightCount: 5) { number in
        made.withLock { $0 += 1 }
        return number
      }
      for try await _ in results {
        taken += 1
        #expect(made.withLock { $0 } <= taken + 5)
        if taken == 100 { break }
      }
    }
    // Leaving the loop cancels the calls that are under way.
    try await queue.untilAllOperationsAreFinished()
  }

  @Test("B3: the inputs can arrive over time") func stream() async throws {
    let queue = OperationQueue()
    let (inputs, input) = AsyncStream.makeStream(of: Int.self)
    var iterator = queue.results(of: inputs, inOrder: false) { $0 + 1 }.makeAsyncIterator()
    for number in 0..<10 {
      input.yield(number)
      #expect(try await iterator.next() == number + 1)
    }
    input.finish()
    #expect(try await iterator.next() == nil)
  }

  @Test("B3, B5: the first error is thrown when no operation is running any longer", arguments: [true, false])
  func failing(isInOrder: Bool) async throws {
    let queue = OperationQueue()
    let crowd = Crowd()
    let results = queue.results(of: 0..<1_000, inOrder: isInOrder, maxInFlightCount: 8) { number in
      crowd.enter()
      defer { crowd.leave() }
      if number == 20 { throw Mishap() }
      await Task.yield()
      return number
    }
    var iterator = results.makeAsyncIterator()
    await #expect(throws: Mishap()) { while try await iterator.next() != nil {} }
    #expect(crowd.now == 0)
    #expect(try await iterator.next() == nil)
    try await queue.untilAllOperationsAreFinished()
  }

  @Test("B3, B5: an error is thrown, not the cancellation of other calls that it causes") func firstError() async throws
  {
    let queue = OperationQueue(limit: 8)
    for _ in 0..<1000 {
      await #expect(throws: Mishap()) {
        let results = queue.results(of: 0..<8, inOrder: false) { number in
          if number == 7 { throw Mishap() }
          try await ManualClock().sleep(for: .seconds(100))
        }
        for try await _ in results {}
      }
    }
  }

  @Test("B3, B5: with ordered results, an error immediately cancels later operations, and is thrown in its turn")
  func errorInOrder() async throws {
    let queue = OperationQueue()
    let (first, isLast) = (Gate(), Gate())
    let results = queue.results(of: 1...3) { number in
      switch number {
      case 1: while !first.isOpen { await Task.yield() }
      case 2: throw Mishap()
      default:
        while !Task.isCancelled { await Task.yield() }
        isLast.open()
      }
      return number
    }
    let task = Task { () async throws -> Void in
      var iterator = results.makeAsyncIterator()
      #expect(try await iterator.next() == 1)
      do {
        _ = try await iterator.next()
        Issue.record("the second call throws")
      } catch {
        #expect(error as? Mishap == Mishap())
      }
    }
    await until { isLast.isOpen }
    first.open()
    try await task.value
  }

  @Test("B3: copies of an iterator share its results; a window can have any size") func copies() async throws {
    let queue = OperationQueue(name: nil, maxConcurrentOperationCount: .max)
    var iterator = queue.results(of: 1...4, maxInFlightCount: .max) { $0 }.makeAsyncIterator()
    var copy = iterator
    var all: [Int?] = []
    for _ in 0..<3 { all += [try await iterator.next(), try await copy.next()] }
    #expect(all == [1, 2, 3, 4, nil, nil])
  }

  @Test("B3, B5: if an iterator has several copies, exactly one copy throws the error", arguments: [true, false])
  func errorOfCopies(isInOrder: Bool) async {
    let queue = OperationQueue(limit: 8)
    for _ in 0..<50 {
      let iterator = queue.results(of: 0..<50, inOrder: isInOrder) { number in
        if number == 20 { throw Mishap() }
        if number > 20 { try await ManualClock().sleep(for: .seconds(100)) }
      }.makeAsyncIterator()
      var errors: [any Error] = []
      await withTaskGroup(of: (any Error)?.self) { group in
        for _ in 0..<4 {
          nonisolated(unsafe) let copy = iterator
          group.addTask {
            var copy = copy
            do { while try await copy.next() != nil {} } catch { return error }
            return nil
          }
        }
        for await case let error? in group { errors.append(error) }
      }
      #expect(errors.map { $0 as? Mishap } == [Mishap()])
    }
  }

  @Test("B3, B4: a loop over results in a group can exit while the group ends") func insideGroup() async throws {
    for _ in 0..<50 {
      let group = GroupOperation(name: "group")
      let inner = group.operationQueue
      inner.addTask { for try await _ in inner.results(of: 1..., { $0 }) { break } }
      OperationQueue().addOperation(group)
      try await group.untilFinished()
    }
  }

  @Test("B3, T2: inputs that block when the next one is requested delay no other task")
  func blocking() async throws {
    struct Blocking: Sequence, IteratorProtocol, Sendable {
      let gate: Gate
      var number = 0

      mutating func next() -> Int? {
        gate.wait()
        number += 1
        return number > 2 ? nil : number
      }
    }
    let gate = Gate()
    let queue = OperationQueue()
    let tasks = (0..<8).map { _ in Task { try await queue.results(of: Blocking(gate: gate)) { $0 }.reduce(0, +) } }
    await Task.detached { gate.open() }.value
    for task in tasks { #expect(try await task.value == 3) }
  }

  @Test("B3: an error that the inputs throw is rethrown after the results of earlier inputs", arguments: [true, false])
  func failingInputs(isInOrder: Bool) async throws {
    let inputs = AsyncThrowingStream<Int, any Error> { stream in
      for number in 0..<10 { stream.yield(number) }
      stream.finish(throwing: Mishap())
    }
    let results = OperationQueue().results(of: UncheckedInputs(inputs), inOrder: isInOrder) { $0 }
    var iterator = results.makeAsyncIterator()
    var sum = 0
    await #expect(throws: Mishap()) { while let number = try await iterator.next() { sum += number } }
    #expect(sum == 45)
  }

  @Test("B3, C7: cancelling the task cancels operations in progress, and waits for them", arguments: [true, false])
  func cancelling(isInOrder: Bool) async throws {
    let queue = OperationQueue()
    let crowd = Crowd()
    let task = Task {
      let results = queue.results(of: 1..., inOrder: isInOrder, maxInFlightCount: 16) { number in
        crowd.enter()
        defer { crowd.leave() }
        if number > 40 { while !Task.isCancelled { await Task.yield() } }
        return number
      }
      do {
        for try await _ in results {}
        Issue.record("the inputs have no end")
      } catch {
        #expect(error is CancellationError && crowd.now == 0)
      }
    }
    await until { crowd.now == 16 }
    task.cancel()
    await task.value
    try await queue.untilAllOperationsAreFinished()
  }

  @Test("B3, C1: cancelling the queue's operations ends the iteration with an error", arguments: [true, false])
  func cancelledOperations(isInOrder: Bool) async throws {
    let queue = OperationQueue()
    queue.isSuspended = true
    let results = queue.results(of: 0..<100, inOrder: isInOrder, maxInFlightCount: 10) { $0 }
    let task = Task { try await results.reduce(0, +) }
    await until { queue.operationCount == 10 }
    queue.cancelAllOperations()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await queue.untilAllOperationsAreFinished()
  }

  @Test("B3: an iteration that stops at any time leaves nothing behind") func storm() async throws {
    let census = Crowd()
    let queue = OperationQueue(limit: 3)
    var generator = SeededGenerator(seed: 31)
    for _ in 0..<300 {
      let (count, end, fails) = (
        Int.random(in: 0...20, using: &generator), Int.random(in: 0...25, using: &generator),
        Int.random(in: 0...40, using: &generator)
      )
      let member = CensusMember(census)
      let results = queue.results(
        of: 0..<count, inOrder: Bool.random(using: &generator),
        maxInFlightCount: Int.random(in: 1...6, using: &generator)
      ) { number in
        if number.isMultiple(of: 3) { await Task.yield() }
        if number == fails { throw Mishap() }
        return withExtendedLifetime(member) { number }
      }
      let isCancelled = Bool.random(using: &generator)
      let task = Task {
        var taken = 0
        for try await _ in results {
          taken += 1
          if taken == end { break }
        }
      }
      if isCancelled { task.cancel() }
      _ = await task.result
    }
    try await queue.untilAllOperationsAreFinished()
    await until { census.now == 0 }
  }
}

/// Streams that throw are also Sendable.
private struct UncheckedInputs: AsyncSequence, @unchecked Sendable {
  let base: AsyncThrowingStream<Int, any Error>

  init(_ base: AsyncThrowingStream<Int, any Error>) { self.base = base }

  func makeAsyncIterator() -> AsyncThrowingStream<Int, any Error>.Iterator { base.makeAsyncIterator() }
}

private final class CensusMember: Sendable {
  private let census: Crowd

  init(_ census: Crowd) {
    self.census = census
    census.enter()
  }

  deinit { census.leave() }
}
