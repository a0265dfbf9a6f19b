import HeadwayTestKit
import Testing

@testable import Headway

@Suite("Key paths", .hangLimit) struct KeyPathTests {
  @Test("K1: a key path is found by its identity after its first use, and by its description before")
  func identity() {
    let keyPath: AnyKeyPath = \Operation.isFinished
    for _ in 0..<3 { #expect(ObservedKey(keyPath, of: Operation.self) == .isFinished) }
    for _ in 0..<3 { #expect(ObservedKey(\Operation.isConcurrent, of: Operation.self) == .isAsynchronous) }
    for _ in 0..<3 { #expect(ObservedKey(\OperationQueue.name, of: OperationQueue.self) == .name) }
    for _ in 0..<3 { #expect(ObservedKey(\Operation.name, of: Operation.self) == .name) }
  }

  @Test("K1: key paths that generic code creates each time are equivalent to literals") func generic() {
    // More key paths than the table has room for, and one key path that is always in it.
    let kept: AnyKeyPath = \BlockOperation.isReady
    for _ in 0..<1_000 {
      #expect(ObservedKey(executing(of: BlockOperation.self), of: BlockOperation.self) == .isExecuting)
      #expect(ObservedKey(cancelled(of: Counting.self), of: Counting.self) == .isCancelled)
      #expect(ObservedKey(kept, of: BlockOperation.self) == .isReady)
    }
  }

  @Test("K1: composed key paths, and key paths of a subclass's properties, are not known keys") func composed() {
    let composed = (\Operation.name).appending(path: \.?.count)
    let appended = (\Counting.self).appending(path: \.isFinished)
    for _ in 0..<3 {
      #expect(ObservedKey(composed, of: Operation.self) == .own(OwnKeyPath(composed)))
      #expect(ObservedKey(\Operation.isFinished.description, of: Operation.self) != .isFinished)
      #expect(ObservedKey(\Counting.count, of: Counting.self) == .own(OwnKeyPath(\Counting.count)))
      #expect(ObservedKey(appended, of: Counting.self) == .isFinished)
    }
  }

  @Test("K1: key paths that capture objects are not kept") func users() {
    weak var argument: Argument?
    do {
      let made = Argument()
      argument = made
      let keyPath: AnyKeyPath = \Counting[made]
      for _ in 0..<3 { #expect(ObservedKey(keyPath, of: Counting.self) == .own(OwnKeyPath(keyPath))) }
    }
    #expect(argument == nil)
  }

  @Test("K1: threads that look up key paths concurrently get the right keys") func threads() {
    let meeting = Meeting(of: 4)
    let queue = OperationQueue(limit: 4)
    for _ in 0..<4 {
      queue.addOperation {
        meeting.attend()
        for _ in 0..<2_000 {
          #expect(ObservedKey(executing(of: Counting.self), of: Counting.self) == .isExecuting)
          #expect(ObservedKey(cancelled(of: Operation.self), of: Operation.self) == .isCancelled)
          #expect(ObservedKey(\Operation.isFinished, of: Operation.self) == .isFinished)
        }
      }
    }
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("K1: an observer whose key path was created by generic code is notified") func observing() {
    func finished<Kind: Operation>(of operation: Kind) -> KeyValueObservation {
      let told = EventRecorder<Bool>()
      let token = operation.observe(\.isFinished, options: [.initial, .new]) { _, change in
        told.record(change.newValue!)
        if change.newValue! { #expect(told.events == [false, true]) }
      }
      return token
    }
    for _ in 0..<3 {
      let operation = Counting()
      let told = EventRecorder<Int>()
      let tokens = [
        finished(of: operation),
        operation.observe(\.count, options: .new) { _, change in told.record(change.newValue!) },
      ]
      operation.count = 7
      operation.start()
      #expect(told.events == [7])
      withExtendedLifetime(tokens) {}
    }
  }
}

private func executing<Kind: Operation>(of: Kind.Type) -> AnyKeyPath { \Kind.isExecuting }

private func cancelled<Kind: Operation>(of: Kind.Type) -> AnyKeyPath { \Kind.isCancelled }

private final class Argument: Hashable, Sendable {
  static func == (left: Argument, right: Argument) -> Bool { left === right }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

private final class Counting: Operation, @unchecked Sendable {
  // Set by one thread, before the start.
  var count = 0 {
    didSet { didChangeValue(for: \.count) }
  }

  subscript(argument: Argument) -> Int { 0 }
}
