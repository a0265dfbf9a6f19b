import HeadwayTestKit
import Testing

@testable import Headway

/// The table of resources, compared with a list of requests in the order of waiting.
@Suite("Resource table") struct ResourceTableTests {
  private struct Request {
    let operation: BlockOperation
    let request: ResourceGate
    let exclusive: Set<String>
    let shared: Set<String>
    /// Its turn among the waiting requests, or nil if it does not wait.
    var turn: Int?
    var holds = false
    /// The turn that it keeps after it stopped waiting.
    var keptTurn: Int?

    func excludes(_ other: Request) -> Bool {
      !exclusive.isDisjoint(with: other.exclusive) || !exclusive.isDisjoint(with: other.shared)
        || !shared.isDisjoint(with: other.exclusive)
    }
  }

  private static func makeRequest(_ exclusive: Set<String>, _ shared: Set<String>) -> Request {
    let operation = BlockOperation {}
    operation.policy = OperationPolicy(exclusiveResources: exclusive, sharedResources: shared)
    return Request(operation: operation, request: operation.resourceGate!, exclusive: exclusive, shared: shared)
  }

  /// The first waiting requests that nothing excludes: by definition, these can be granted.
  private static func grantable(_ requests: [Request]) -> Set<Int> {
    Set(
      requests.indices.filter { position in
        guard let turn = requests[position].turn else { return false }
        return !requests.indices.contains { other in
          guard other != position, requests[other].excludes(requests[position]) else { return false }
          return requests[other].holds || requests[other].turn.map { $0 < turn } == true
        }
      })
  }

  @Test(
    "X1: at random, the table grants exactly what the order of requests allows, and forgets everything",
    arguments: 0..<300)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    // All tables of the process have the same resources.
    let prefix = "table \(seed) "
    let names = (1...Int.random(in: 1...5, using: &random)).map { prefix + "\($0)" }
    let table = Guarded(ResourceTable())
    var (requests, lastTurn) = ([Request](), 0)
    for _ in 0..<Int.random(in: 2...12, using: &random) {
      let chosen = names.shuffled(using: &random).prefix(Int.random(in: 1...names.count, using: &random))
      let split = Int.random(in: 0...chosen.count, using: &random)
      requests.append(Self.makeRequest(Set(chosen.prefix(split)), Set(chosen.dropFirst(split))))
    }
    /// Answers the offers of the table, like the queues of the operations would.
    func answer(_ offered: [ResourceGate]) {
      var offered = offered
      while let request = offered.popLast() {
        let position = requests.firstIndex { $0.request === request }!
        #expect(Self.grantable(requests).contains(position), "seed \(seed): \(position) was offered too early")
        if Int.random(in: 0..<4, using: &random) == 0 {
          // The operation can't start now.
          (requests[position].keptTurn, requests[position].turn) = (requests[position].turn, nil)
          offered += table.withLock { $0.withdraw(request) }
        } else {
          let isGranted = table.withLock { $0.acquire(request) }
          #expect(isGranted)
          (requests[position].holds, requests[position].turn, requests[position].keptTurn) = (true, nil, nil)
        }
      }
      // None that can be granted still waits.
      #expect(Self.grantable(requests).isEmpty, "seed \(seed)")
    }
    for _ in 0..<200 {
      let position = requests.indices.randomElement(using: &random)!
      let request = requests[position].request
      if requests[position].holds {
        requests[position].holds = false
        answer(table.release(request))
      } else if requests[position].turn != nil {
        guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
        (requests[position].keptTurn, requests[position].turn) = (requests[position].turn, nil)
        answer(table.withLock { $0.withdraw(request) })
      } else {
        lastTurn += 1
        requests[position].turn = requests[position].keptTurn ?? lastTurn
        let isFree = Self.grantable(requests).contains(position)
        let mayWait = Bool.random(using: &random)
        let isGranted = mayWait ? table.withLock { $0.acquire(request) } : table.acquireIfAvailable(request)
        #expect(isGranted == isFree, "seed \(seed)")
        // Otherwise, the request has no turn yet, or keeps the one that it has.
        if !isFree, !mayWait { requests[position].turn = nil }
        if isFree {
          (requests[position].holds, requests[position].turn, requests[position].keptTurn) = (true, nil, nil)
        }
      }
    }
    for position in requests.indices {
      (requests[position].holds, requests[position].turn) = (false, nil)
      let request = requests[position].request
      answer(table.withLock { $0.release(request) + $0.withdraw(request) })
      requests[position].holds = false
    }
    for request in requests { _ = table.withLock { $0.release(request.request) } }
    #expect(requests.allSatisfy { $0.request.resources?.first { resource, _ in !resource.isUnused } == nil })
    #expect(Resource.count(withPrefix: prefix) > 0)
    requests = []
    #expect(Resource.count(withPrefix: prefix) == 0)
  }
}
