import HeadwayFoundation
import HeadwayTestKit
import Testing

/// The expectations that code written for Foundation has of objects.
@Suite("Objects", .hangLimit) struct ObjectsTests {
  #if !canImport(ObjectiveC)
  private protocol Listening: NSObjectProtocol { func hear() }

  @Test("O1: operations and queues are objects that can be delegates") func delegates() {
    final class Ear: Operation, Listening, @unchecked Sendable { func hear() {} }
    final class EarQueue: OperationQueue, Listening, @unchecked Sendable { func hear() {} }
    let (ear, queue) = (Ear(), EarQueue())
    let listeners: [any Listening] = [ear, queue]
    #expect(listeners[0].isEqual(ear) && !listeners[0].isEqual(queue) && listeners[1].isEqual(queue))
    #expect(listeners[0].hash == ear.hash && !listeners[1].isProxy())
    #expect(listeners[1].debugDescription == queue.description)
    #expect(ear.isKind(of: Operation.self) && ear.isMember(of: Ear.self))
    #expect(!ear.isMember(of: Operation.self) && !ear.isKind(of: OperationQueue.self))
    #expect(queue.isKind(of: OperationQueue.self) && !queue.isMember(of: OperationQueue.self))
  }
  #endif

  @Test("B1: super.main() in a subclass of BlockOperation needs no try, and runs the blocks") func superMain() {
    final class Framed: BlockOperation, @unchecked Sendable {
      let heard = EventRecorder<String>()
      override func main() {
        super.main()
        heard.record("after")
      }
    }
    let operation = Framed()
    operation.addExecutionBlock { operation.heard.record("block") }
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(operation.heard.events == ["block", "after"])
  }
}
