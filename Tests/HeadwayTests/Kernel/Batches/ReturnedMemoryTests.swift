import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

/// Released operations are deinitialized immediately; only their memory waits for a thread that adds operations.
@Suite("Returned memory", .hangLimit) struct ReturnedMemoryTests {
  private final class Probe: Headway.Operation, @unchecked Sendable {
    private let freed: Counter
    init(_ freed: Counter) { self.freed = freed }
    deinit { freed.increment() }
  }

  @Test("O8: an object whose memory is kept has been deinitialized") func isDeinitialized() {
    let freed = Counter()
    var chain = ReturnedMemory.Chain()
    for number in 1...5 {
      chain.release(.passRetained(Probe(freed)), isPart: number.isMultiple(of: 2))
      #expect(freed.value == number)
    }
    var count = 0
    while !chain.isEmpty {
      chain.freeFirst()
      count += 1
    }
    // The memory of the fourth object is freed with the third object's, and the memory of the second with the first's.
    #expect(count == 3 && freed.value == 5)
  }

  @Test("O8: the memory of an object that has another reference of any kind is not kept") func hasReference() {
    let freed = Counter()
    var chain = ReturnedMemory.Chain()
    do {
      let strong = Probe(freed)
      chain.release(.passRetained(strong))
      #expect(chain.isEmpty && freed.value == 0)
      withExtendedLifetime(strong) {}
    }
    #expect(freed.value == 1)
    let watched = OperationReference.passRetained(Probe(freed))
    weak let reference = watched.takeUnretainedValue()
    chain.release(watched)
    #expect(chain.isEmpty && freed.value == 2 && reference == nil)
  }

  @Test("O6, O8: each operation is deinitialized once, no matter what thread frees its memory")
  func roundTrips() async throws {
    let (freed, runs, count) = (Counter(), Counter(), 2_000)
    let queue = OperationQueue()
    for number in 0..<count {
      queue.addOperation(Probe(freed))
      let operation = BlockOperation { runs.increment() }
      switch number % 4 {
      case 0: operation.name = "import of customer \(number)"
      case 1: operation.completionBlock = { runs.increment() }
      case 2: operation.policy = OperationPolicy(exclusiveResources: ["customer \(number)"])
      default: break
      }
      queue.addOperation(operation)
    }
    try await queue.untilAllOperationsAreFinished()
    await until { freed.value == count && runs.value == count + count / 4 }
  }
}
