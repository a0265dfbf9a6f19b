// Test files.

// MARK: a test file that imports XCTest next to Foundation
// Imports: Foundation, XCTest

private final class QueueTests: XCTestCase {
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  private var queue: OperationQueue!
  override func setUp() {
    super.setUp()
    queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
  }
  override func tearDown() {
    queue.cancelAllOperations()
    queue = nil
    super.tearDown()
  }
  func testFinishes() {
    let finished = expectation(description: "finished")
    let operation = BlockOperation { print("runs") }
    operation.completionBlock = { finished.fulfill() }
    queue.addOperation(operation)
    waitForExpectations(timeout: 10)
    XCTAssertTrue(operation.isFinished)
    XCTAssertEqual(queue.operationCount, 0)
    XCTAssertEqual(queue, queue)
    XCTAssertNil(queue.operations.first { $0 is BlockOperation })
    XCTAssert(OperationQueue.current === OperationQueue.main)
  }
  func testQueue() throws {
    let operation: Operation = try XCTUnwrap(queue.operations.first ?? Operation())
    XCTAssertEqual(operation.queuePriority, .normal)
    XCTAssertEqual(operation.qualityOfService, QualityOfService.default)
    XCTAssertFalse(operation.isCancelled)
    XCTAssertNotEqual(operation, BlockOperation())
  }
}

// MARK: a test file that imports XCTest alone
// Imports: XCTest

private final class PlainTests: XCTestCase {
  func testQueue() { XCTAssertEqual(OperationQueue().operationCount, 0) }
}

// MARK: a test double of a queue
// Imports: Foundation, XCTest

private final class SynchronousQueue: OperationQueue, @unchecked Sendable {
  private(set) var added: [Operation] = []
  override func addOperation(_ operation: Operation) {
    added.append(operation)
    operation.start()
  }
  override func addOperation(_ block: @escaping () -> Void) { block() }
  override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
    operations.forEach { addOperation($0) }
  }
}

private final class DoubleTests: XCTestCase {
  func testAdds() {
    let queue = SynchronousQueue()
    queue.addOperation { print("at once") }
    queue.addOperations([Operation()], waitUntilFinished: true)
    XCTAssertEqual(queue.added.count, 1)
  }
}

// MARK: a test file with helpers called fail
// Imports: Foundation, XCTest

private func fail(_ message: String = "", file: StaticString = #filePath, line: UInt = #line) {
  XCTFail(message, file: file, line: line)
}

private final class FailingOperation: Operation, @unchecked Sendable {
  override func main() { if isCancelled { fail("should not run") } }
}
