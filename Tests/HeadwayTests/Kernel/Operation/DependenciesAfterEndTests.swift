import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

/// Code that is called because an operation has ended can read the results of its inputs through `dependencies`.
@Suite("Dependencies of finished operations", .hangLimit) struct DependenciesAfterEndTests {
  private final class Producer: Operation, @unchecked Sendable {
    let census: Crowd
    private(set) var result = 0

    init(_ census: Crowd) {
      self.census = census
      census.enter()
    }

    deinit { census.leave() }

    override func main() { result = 42 }
  }

  /// Reads the results of the inputs of an operation.
  private static func results(of operation: Headway.Operation) -> [Int] {
    operation.dependencies.compactMap { ($0 as? Producer)?.result }
  }

  private final class Reader: OperationQueueInstrument {
    let read: @Sendable (Headway.Operation) -> Void
    init(_ read: @escaping @Sendable (Headway.Operation) -> Void) { self.read = read }
    func didFinish(_ operation: Headway.Operation, in queue: OperationQueue) { read(operation) }
  }

  enum Way: CaseIterable, Sendable {
    case completionBlock, observer, failureHandler, instrument, observerOfSubclass, all
  }

  @Test(
    "O9: code that is called when an operation ends can read its dependencies, which are released afterward",
    arguments: Way.allCases, [1, 3, 5])
  func readable(way: Way, count: Int) async throws {
    let (queue, census, read) = (OperationQueue(), Crowd(), EventRecorder<String>())
    let fails = way == .failureHandler || way == .all
    let consumer = BlockOperation { if fails { throw Mishap() } }
    for _ in 0..<count {
      let producer = Producer(census)
      consumer.addDependency(producer)
      queue.addOperation(producer)
    }
    let expected = Array(repeating: 42, count: count)
    var expectedCount = 0
    let note = { @Sendable (name: String, operation: Headway.Operation) in
      read.record(Self.results(of: operation) == expected ? name : "\(name) found \(Self.results(of: operation))")
    }
    var tokens: [KeyValueObservation] = []
    if way == .completionBlock || way == .all {
      expectedCount += 1
      consumer.completionBlock = { [unowned consumer] in note("read", consumer) }
    }
    if way == .observer || way == .all {
      expectedCount += 1
      tokens.append(consumer.observe(\.isFinished) { operation, _ in note("read", operation) })
    }
    if way == .failureHandler || way == .all {
      expectedCount += 1
      queue.failureHandler = { operation, _ in note("read", operation) }
    }
    if way == .instrument || way == .all {
      expectedCount += 1
      queue.addInstrument(Reader { operation in if operation === consumer { note("read", operation) } })
    }
    if way == .observerOfSubclass {
      expectedCount += 2
      for _ in 0..<2 {
        tokens.append(
          consumer.observe(\.isExecuting, options: [.new]) { _, change in
            if change.newValue == false { note("read", consumer) }
          })
      }
    }
    queue.addOperation(consumer)
    try await consumer.untilFinished()
    await until { read.count >= expectedCount }
    #expect(read.events.allSatisfy { $0 == "read" }, "\(read.events)")
    await until { consumer.dependencies.isEmpty && census.now == 0 }
    withExtendedLifetime(tokens) {}
  }

  @Test("O9: such code can also read the dependencies of an operation that was cancelled before they ended")
  func cancelled() async throws {
    let (queue, census, read) = (OperationQueue(), Crowd(), EventRecorder<Int>())
    let consumer = BlockOperation {}
    consumer.addDependency(Producer(census))
    consumer.completionBlock = { [unowned consumer] in read.record(consumer.dependencies.count) }
    let token = consumer.observe(\.isFinished) { operation, _ in read.record(operation.dependencies.count) }
    queue.addOperation(consumer)
    consumer.cancel()
    try await consumer.untilFinished()
    await until { read.count == 2 }
    #expect(read.events == [1, 1])
    await until { consumer.dependencies.isEmpty && census.now == 0 }
    withExtendedLifetime(token) {}
  }

  @Test("O8: an observed chain releases each operation soon after its dependents have ended") func chain() async throws
  {
    let (queue, census) = (OperationQueue(), Crowd())
    var last: Headway.Operation = Producer(census)
    queue.isSuspended = true
    queue.addOperation(last)
    let tokens = (0..<10_000).map { _ in
      let next = Producer(census)
      next.addDependency(last)
      let token = next.observe(\.isFinished) { operation, _ in
        if operation.dependencies.count != 1 { Issue.record("a dependency was released too early") }
      }
      queue.addOperation(next)
      last = next
      return token
    }
    queue.isSuspended = false
    try await last.untilFinished()
    await until { census.now == 1 }
    withExtendedLifetime((tokens, last)) {}
  }
}
