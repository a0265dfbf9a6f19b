import HeadwayFoundation
import HeadwayTestKit
import Testing

@Suite("Names of Foundation", .hangLimit) struct NamesTests {
  @Test("O1: the names mean Headway's classes") func names() {
    #expect(Operation.self == Headway.Operation.self)
    #expect(BlockOperation.self == Headway.BlockOperation.self)
    #expect(OperationQueue.self == Headway.OperationQueue.self)
    #expect(Operation.QueuePriority.high.rawValue == 4)
    #expect(Operation.QueuePriority(rawValue: 5) == nil)
    #expect(QualityOfService.utility == Headway.QualityOfService.utility)
  }

  @Test("Z6: the classes have their members in a file that does not import Headway") func members() async throws {
    let queue = OperationQueue()
    queue.rateLimit = nil
    let values = try await queue.concurrentMap([1, 2]) { 2 * $0 }
    let operation = BlockOperation {}
    operation.policy.timeout = .seconds(1)
    queue.addOperation(operation)
    try await operation.untilSucceeded()
    #expect(values == [2, 4] && !queue.isClosed)
  }

  @Test("Z7: subclasses can call system functions") func functionsOfTheSystem() throws {
    final class Files: OperationQueue, @unchecked Sendable {
      static func elapsed() -> Int { Int(clock()) }
      /// The results for an open descriptor and for an impossible one, because other tests open files in the meantime.
      func closed(_ descriptor: Int32) -> (open: Int32, invalid: Int32) {
        waitUntilAllOperationsAreFinished()
        let invalid = EventRecorder<Int32>()
        let open = close(descriptor)
        addOperation { invalid.record(close(-1)) }
        waitUntilAllOperationsAreFinished()
        return (open, invalid.events[0])
      }
      func text(_ value: some Any) -> String {
        var text = ""
        dump(value, to: &text)
        return text
      }
    }
    let queue = Files()
    #expect(queue.closed(dup(0)) == (0, -1))
    #expect(queue.text(3) == "- 3\n" && Files.elapsed() >= 0)
  }

  @Test("O3: start() may call main() without try, and what it throws is kept") func mainWithoutTry() {
    class Starting: Operation, @unchecked Sendable {
      override func start() {
        didChangeValue(for: \.isExecuting)
        main()
        state = "done"
        didChangeValue(for: \.isFinished)
      }
      // A subclass's members with the names of Headway's own members belong to the subclass.
      var error: String? { "its own" }
      private(set) var state = "waiting"
      override var isFinished: Bool { state == "done" }
    }
    final class Failing: Starting, @unchecked Sendable {
      override func main() throws { throw CocoaError(.fileNoSuchFile) }
    }
    let operation = Failing()
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(operation.error == "its own")
    #expect((operation as Operation).error is CocoaError)
  }

  @Test("O3: super.main() does nothing in a direct subclass, and calls the superclass in other subclasses")
  func superMain() {
    class Direct: Operation, @unchecked Sendable {
      let calls = EventRecorder<String>()
      override func main() {
        super.main()
        calls.record("direct")
      }
    }
    final class Indirect: Direct, @unchecked Sendable {
      override func main() {
        super.main()
        calls.record("indirect")
      }
    }
    class Starting: Operation, @unchecked Sendable {
      let calls = EventRecorder<String>()
      override func start() { main() }
    }
    final class Started: Starting, @unchecked Sendable {
      override func main() {
        super.main()
        calls.record("started")
      }
    }
    final class Whole: Operation, @unchecked Sendable {
      let calls = EventRecorder<String>()
      override func start() { main() }
      override func main() {
        super.main()
        calls.record("whole")
        didChangeValue(for: \.isFinished)
      }
      override var isFinished: Bool { !calls.events.isEmpty }
    }
    let (direct, indirect, byHand, started, whole) = (Direct(), Indirect(), Direct(), Started(), Whole())
    OperationQueue().addOperations([direct, indirect, whole], waitUntilFinished: true)
    (byHand as Operation).main()
    started.start()
    #expect(direct.calls.events == ["direct"])
    #expect(indirect.calls.events == ["direct", "indirect"])
    #expect(byHand.calls.events == ["direct"])
    #expect(started.calls.events == ["started"])
    #expect(whole.calls.events == ["whole"])
  }
}
