import Headway
import HeadwayTestKit
import Testing

/// Observers that are also called before a change, and the other information in a change.
@Suite("Observing before a change", .hangLimit) struct PriorObservationTests {
  /// A notification of an observer, in short form.
  private static func text<Value>(_ change: KeyValueObservedChange<Value>) -> String {
    let values = [change.oldValue, change.newValue].map { $0.map { "\($0)" } ?? "-" }
    return "\(change.isPrior ? "before" : "after") \(values.joined(separator: " "))"
  }

  @Test("K1: with prior, an observer is called twice for each change") func twice() {
    let (operation, heard) = (BlockOperation {}, EventRecorder<String>())
    let tokens = [
      operation.observe(\.isExecuting, options: [.prior, .old, .new]) { _, change in heard.record(Self.text(change)) },
      operation.observe(\.isFinished, options: [.prior, .initial]) { _, change in heard.record(Self.text(change)) },
    ]
    operation.start()
    let expected = [
      "after - -",  // The initial call.
      "before false -", "after false true", "before true -", "after true false", "before - -", "after - -",
    ]
    #expect(heard.events == expected)
    withExtendedLifetime(tokens) {}
  }

  @Test("K1: for a posted change, a prior observer is called when the subclass announces the change") func announced() {
    final class Levelled: Headway.Operation, @unchecked Sendable {
      private(set) var level = 0
      func set(_ level: Int) {
        willChangeValue(for: \Levelled.level)
        self.level = level
        didChangeValue(for: \Levelled.level)
      }
    }
    let (operation, heard) = (Levelled(), EventRecorder<String>())
    let token = operation.observe(\Levelled.level, options: [.prior, .old, .new]) { operation, change in
      heard.record("\(operation.level): \(Self.text(change))")
    }
    let other = operation.observe(\.isReady) { _, _ in heard.record("other") }
    operation.set(3)
    operation.set(3)
    operation.set(4)
    let expected = ["0: before 0 -", "3: after 0 3", "3: before 3 -", "3: after 3 3", "3: before 3 -", "4: after 3 4"]
    #expect(heard.events == expected)
    withExtendedLifetime((token, other)) {}
  }

  @Test("K1: a prior observer is called for changes that are posted by name, and for changes of queues") func names() {
    final class Posting: AsynchronousOperation, @unchecked Sendable {
      func post() {
        willChangeValue(forKey: "isReady")
        heard.record("between")
        didChangeValue(forKey: "isReady")
      }
      let heard = EventRecorder<String>()
    }
    final class Named: OperationQueue, @unchecked Sendable {
      private(set) var level = 0
      func set(_ level: Int) {
        willChangeValue(for: \.level)
        self.level = level
        didChangeValue(for: \.level)
      }
    }
    let (operation, queue, heard) = (Posting(), Named(), EventRecorder<String>())
    let token = operation.observe(\.isReady, options: .prior) { [unowned operation] _, change in
      operation.heard.record(Self.text(change))
    }
    operation.post()
    #expect(operation.heard.events == ["before - -", "between", "after - -"])
    let tokens = [
      queue.observe(\.isSuspended, options: [.prior, .new]) { _, change in heard.record(Self.text(change)) },
      queue.observe(\Named.level, options: [.prior, .new]) { queue, change in
        heard.record("\(queue.level): \(Self.text(change))")
      },
    ]
    queue.isSuspended = true
    queue.set(1)
    #expect(heard.events == ["before - -", "after - true", "0: before - -", "1: after - 1"])
    withExtendedLifetime((token, tokens)) {}
  }

  @Test("K1: tokens are hashable by identity, and the kind of every change is setting") func tokens() {
    let (operation, heard) = (BlockOperation {}, EventRecorder<KeyValueChange>())
    let (one, other) = (operation.observe(\.isFinished) { _, _ in }, operation.observe(\.isFinished) { _, _ in })
    #expect(one == one && one != other && Set([one, other, one]).count == 2)
    let token = operation.observe(\.dependencies) { _, change in heard.record(change.kind) }
    operation.addDependency(BlockOperation {})
    #expect(heard.events == [.setting])
    withExtendedLifetime(token) {}
  }
}
