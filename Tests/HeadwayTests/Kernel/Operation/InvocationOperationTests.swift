import Headway
import HeadwayTestKit
import Synchronization
import Testing

@Suite("InvocationOperation", .hangLimit) struct InvocationOperationTests {
  final class Controller: Sendable {
    let calls = EventRecorder<String>()

    func performLongRunningTask(_ number: Int) { calls.record("long \(number)") }
    func performShortTask(_ number: Int) { calls.record("short \(number)") }
    func double(_ number: Int) -> Int { number * 2 }
    func refuse(_ number: Int) throws -> Int { throw Mishap(name: "\(number)") }
    func reload() -> String { "reloaded" }
  }

  @Test("B2: an invocation calls a method of an object with an argument") func calls() {
    let controller = Controller()
    let operation = InvocationOperation(target: controller, method: Controller.performLongRunningTask, argument: 3)
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(controller.calls.events == ["long 3"])
    #expect(operation.outcome.isSuccess)
  }

  @Test("B2: the method can be replaced until the operation starts") func exchanged() {
    let controller = Controller()
    let operation = InvocationOperation(target: controller, method: Controller.performLongRunningTask, argument: 3)
    operation.method = Controller.performShortTask
    operation.start()
    #expect(controller.calls.events == ["short 3"])
    #expect(operation.method == nil)
  }

  @Test("B2: result returns the value or error of the method") func result() throws {
    let controller = Controller()
    let double = InvocationOperation(target: controller, method: Controller.double, argument: 21)
    #expect(double.result == nil)
    double.start()
    #expect(try double.result?.get() == 42)
    let refuse = InvocationOperation(target: controller, method: Controller.refuse, argument: 7)
    refuse.start()
    #expect(throws: Mishap(name: "7")) { try refuse.result?.get() }
    #expect(refuse.error as? Mishap == Mishap(name: "7"))
  }

  @Test("B2: an invocation can call a method without arguments") func withoutArguments() throws {
    let operation = InvocationOperation(target: Controller(), method: Controller.reload)
    operation.start()
    #expect(try operation.result?.get() == "reloaded")
  }

  @Test("B2: a cancelled operation does not call the method, and releases its target") func cancelled() {
    weak var held: Controller?
    let operation: InvocationOperation<Controller, Int, Void>
    do {
      let controller = Controller()
      held = controller
      operation = InvocationOperation(target: controller, method: Controller.performShortTask, argument: 1)
    }
    #expect(held != nil)
    operation.cancel()
    #expect(held == nil)
    #expect(operation.result == nil && operation.isFinished)
  }

  @Test("B2: replacing the method of an operation that has started stops the process") func exchangedLate() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let operation = InvocationOperation(target: Controller(), method: Controller.double, argument: 1)
      operation.start()
      operation.method = Controller.double
    }
    #expect(result.message.contains("replace it before the operation starts"))
  }
}
