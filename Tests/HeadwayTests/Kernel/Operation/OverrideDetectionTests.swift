import Testing

@testable import Headway

@Suite("Detection of overrides", .hangLimit) struct OverrideDetectionTests {
  private class NoOverride: Headway.Operation, @unchecked Sendable {
    override func main() {}
  }

  private class Starting: Headway.Operation, @unchecked Sendable {
    override func start() { super.start() }
  }

  private class Finishing: Headway.Operation, @unchecked Sendable {
    override var isFinished: Bool { super.isFinished }
  }

  private class Holding: Headway.Operation, @unchecked Sendable {
    override var isReady: Bool { super.isReady }
  }

  private final class HeirOfStarting: Starting, @unchecked Sendable {
    override func main() {}
  }

  private final class Generic<Value>: AsynchronousOperation, @unchecked Sendable {
    var value: Value?
    override var isFinished: Bool { value != nil && super.isFinished }
    override var isReady: Bool { true }
  }

  private final class Block: BlockOperation, @unchecked Sendable {
    override func start() { super.start() }
  }

  private func overrides(of type: Headway.Operation.Type) -> [Bool] {
    [OperationOverrides.hasStart(type), OperationOverrides.hasIsFinished(type), OperationOverrides.hasIsReady(type)]
  }

  @Test("C5, O3: the members that a subclass overrides are detected") func found() {
    #expect(overrides(of: Headway.Operation.self) == [false, false, false])
    #expect(overrides(of: BlockOperation.self) == [false, false, false])
    #expect(overrides(of: AsynchronousOperation.self) == [false, false, false])
    #expect(overrides(of: InvocationOperation<OverrideTarget, Int, Void>.self) == [false, false, false])
    #expect(overrides(of: NoOverride.self) == [false, false, false])
    #expect(overrides(of: Starting.self) == [true, false, false])
    #expect(overrides(of: Finishing.self) == [false, true, false])
    #expect(overrides(of: Holding.self) == [false, false, true])
  }

  @Test("C5, O3: they are also detected through several classes, and in generic ones") func inherited() {
    #expect(overrides(of: HeirOfStarting.self) == [true, false, false])
    #expect(overrides(of: Generic<Int>.self) == [false, true, true])
    #expect(overrides(of: Generic<String>.self) == [false, true, true])
    #expect(overrides(of: Block.self) == [true, false, false])
  }
}

private final class OverrideTarget: Sendable {}
