import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

@Suite("Freeing chains", .hangLimit) struct ReleasedChainTests {
  /// Counts the objects that exist.
  private final class Member: Sendable {
    private let census: Crowd

    init(_ census: Crowd) {
      self.census = census
      census.enter()
    }

    deinit { census.leave() }
  }

  /// Creates an object that refers to another and to a member.
  enum Link: CaseIterable, Sendable {
    case block, furtherBlock, dependencyAndBlock, completionBlock, cancellationHandler, observer, error, progress
    case task, value, target, group, graph, part, progressHandler, failureHandler, queueObserver, property

    fileprivate func make(_ before: AnyObject?, _ census: Crowd) -> AnyObject {
      let member = Member(census)
      nonisolated(unsafe) let before = before
      let use: @Sendable () -> Void = { withExtendedLifetime((before, member)) {} }
      let operation = BlockOperation()
      switch self {
      case .block:
        return BlockOperation(block: use)
      case .furtherBlock:
        operation.addExecutionBlock {}
        operation.addExecutionBlock(use)
      case .dependencyAndBlock:
        let operation = BlockOperation(block: use)
        if let before = before as? Operation { operation.addDependency(before) }
        return operation
      case .completionBlock:
        operation.completionBlock = use
      case .cancellationHandler:
        operation.onCancel(use)
      case .observer:
        let operation = Observed()
        operation.token = operation.observe(\.isFinished) { _, _ in use() }
        return operation
      case .error:
        let operation = BlockOperation { throw Failure(use: use) }
        operation.start()
        return operation
      case .progress:
        operation.progress.pausingHandler = use
      case .task:
        return TaskOperation { use() }
      case .value:
        let operation = TaskOperation { Failure(use: use) }
        operation.start()
        return operation
      case .target:
        return InvocationOperation(target: member, method: { _ in { (_: Int) in use() } }, argument: 0)
      case .group:
        return GroupOperation(operations: [BlockOperation(block: use)])
      case .graph:
        return (try? OperationGraph { $0.addNode(block: use) }) ?? operation
      case .part:
        let whole = OperationProgress(totalUnitCount: 1)
        whole.cancellationHandler = { withExtendedLifetime(member) {} }
        if let before = before as? OperationProgress { whole.addChild(before, withPendingUnitCount: 1) }
        return whole
      case .progressHandler:
        let progress = OperationProgress(totalUnitCount: 1)
        progress.cancellationHandler = use
        return progress
      case .failureHandler:
        let queue = OperationQueue()
        queue.failureHandler = { _, _ in use() }
        return queue
      case .queueObserver:
        let queue = OperationQueue()
        let token = queue.observe(\.isSuspended) { _, _ in use() }
        queue.failureHandler = { _, _ in withExtendedLifetime(token) {} }
        return queue
      case .property:
        let operation = WithProperty(before as? WithProperty, member)
        if let before = before as? Operation { operation.addDependency(before) }
        return operation
      }
      return operation
    }
  }

  private struct Failure: Error { let use: @Sendable () -> Void }

  private final class Observed: Operation, @unchecked Sendable { var token: KeyValueObservation? }

  private final class WithProperty: Operation, @unchecked Sendable {
    private let before: WithProperty?
    private let member: Member

    init(_ before: WithProperty?, _ member: Member) { (self.before, self.member) = (before, member) }
  }

  /// This number of links overflows a stack of this size in bytes, if each is freed by the previous one.
  private static let (count, stackSize) = (10_000, 512 * 1024)

  @Test("O8: a long chain is freed without recursion, whatever links it", arguments: Link.allCases)
  func free(link: Link) async {
    let census = Crowd()
    onThreads(1, stackSize: Self.stackSize) { _ in
      var last: AnyObject?
      for _ in 0..<Self.count { last = link.make(last, census) }
      #expect(census.now == Self.count && last != nil)
    }
    switch link {
    // Through a subclass's properties, the rest of the chain is freed on another thread; the operations of a group end
    // on one. Another test that takes a snapshot of all queues at this moment frees the rest of a chain of queues.
    case .property, .group, .failureHandler, .queueObserver: await until { census.now == 0 }
    default: break
    }
    #expect(census.now == 0)
  }

  @Test("O8: an object that blocks while it is freed does not delay other objects that are freed with it")
  func blockedDeinit() {
    /// Frees a group, which another thread then finishes, and waits until it has finished.
    final class Blocking: Sendable {
      private let group: Mutex<GroupOperation?>
      private let member: Operation

      init() {
        member = BlockOperation {}
        group = Mutex(GroupOperation(operations: [member]))
      }

      deinit {
        let freed = group.withLock { $0.take() }
        _ = consume freed
        member.waitUntilFinished()
      }
    }
    let census = Crowd()
    do {
      let (blocking, member) = (Blocking(), Member(census))
      _ = BlockOperation { withExtendedLifetime((blocking, member)) {} }
    }
    #expect(census.now == 0)
  }
}
