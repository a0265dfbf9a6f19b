import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

@Suite("Registrations of cancellation handlers", .hangLimit) struct CancellationRegistrationTests {
  private let calls = EventRecorder<Int>()

  @Test("C7: a removed handler is not called; the remaining handlers are called in their order") func removing() {
    let operation = BlockOperation {}
    let registrations = (0..<100).map { number in operation.onCancel { [calls] in calls.record(number) } }
    for number in stride(from: 99, through: 0, by: -2) { registrations[number].invalidate() }
    registrations[1].invalidate()
    operation.cancel()
    #expect(calls.events == Array(stride(from: 0, to: 100, by: 2)))
    for registration in registrations { registration.invalidate() }
    operation.onCancel { [calls] in calls.record(100) }.invalidate()
    #expect(calls.events.last == 100)
  }

  @Test("C7: a handler can remove itself and later handlers") func removingInside() {
    let operation = BlockOperation {}
    let registrations = Box<[CancellationRegistration]>([])
    for number in 0..<4 {
      registrations.value.append(
        operation.onCancel { [calls] in
          calls.record(number)
          if number == 1 { for registration in registrations.value[1...2] { registration.invalidate() } }
        })
    }
    operation.cancel()
    #expect(calls.events == [0, 1, 3])
  }

  @Test("C7: a handler's captures are released when it is removed, called or skipped, or the operation is freed")
  func release() async {
    final class Captured: Sendable {}
    func check(_ end: (BlockOperation, CancellationRegistration) -> Void) async {
      weak var captured: Captured?
      var operation: BlockOperation? = BlockOperation {}
      var registration: CancellationRegistration?
      do {
        let object = Captured()
        captured = object
        registration = operation?.onCancel { withExtendedLifetime(object) {} }
      }
      #expect(captured != nil)
      if let operation, let registration { end(operation, registration) }
      operation = nil
      // The thread that ends it can release the handler after the waits for the end.
      await until { captured == nil }
      withExtendedLifetime(registration) {}
    }
    await check { _, registration in registration.invalidate() }
    await check { operation, _ in operation.cancel() }
    await check { operation, _ in operation.start() }
    await check { operation, _ in OperationQueue().addOperations([operation], waitUntilFinished: true) }
    await check { _, _ in }
  }

  @Test("C7: handlers that are added and removed leave no memory in an operation that does not end")
  func comingAndGoing() {
    let operation = BlockOperation {}
    for _ in 0..<1_000 { operation.onCancel {}.invalidate() }
    #expect(operation.links.withLock { $0.details?.pointee.cancellationHandlers?.isEmpty } == true)
  }

  // thread that cancels              thread that removes
  // -------------------              -------------------
  // begins the first handler
  //                                  removes both handlers: returns while the first one runs
  // ends the first handler; the second one is not called
  @Test("C7: removing a handler does not wait for a call that has begun, and later calls do not begin")
  func removingDuringCall() {
    let (operation, isInside, end) = (BlockOperation {}, Gate(), Gate())
    let registrations = [
      operation.onCancel { [calls] in
        isInside.open()
        end.wait()
        calls.record(0)
      },
      operation.onCancel { [calls] in calls.record(1) },
    ]
    onThreads(2) { [calls] number in
      if number == 0 {
        operation.cancel()
      } else {
        isInside.wait()
        for registration in registrations { registration.invalidate() }
        calls.record(2)
        end.open()
      }
    }
    #expect(calls.events == [2, 0])
  }

  /// A value that one thread uses.
  private final class Box<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) { self.value = value }
  }
}
