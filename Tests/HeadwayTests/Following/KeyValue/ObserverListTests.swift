import HeadwayTestKit
import Testing

@testable import Headway

@Suite("List of observers", .hangLimit) struct ObserverListTests {
  @Test("O8: an observer that is added while the last observers are notified of the end is not kept")
  func addedAfterTheEnd() {
    final class Handler: Sendable {}
    let operation = BlockOperation {}
    let (observers, begun) = (ObserverList(), EventRecorder<Bool>())
    operation.start()
    observers.notify(of: operation, ending: operation) { _ in }
    let handler = { () -> WeakHandler in
      let handler = Handler()
      let observer = KeyPathObserver(
        .isFinished, \Operation.isFinished, [.initial, .new],
        ChangeHandler { _, change in withExtendedLifetime(handler) { begun.record(change.newValue!) } })
      observer.prepare(with: operation)
      _ = observers.add(observer, beginningWith: operation)
      return WeakHandler(object: handler)
    }()
    #expect(begun.events == [true] && handler.object == nil)

    struct WeakHandler { weak var object: Handler? }
  }
}
