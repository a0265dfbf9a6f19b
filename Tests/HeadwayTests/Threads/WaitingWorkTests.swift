import HeadwayTestKit
import Testing

@testable import Headway

@Suite("Waiting work", .hangLimit) struct WaitingWorkTests {
  private final class Work: HelpedWork, @unchecked Sendable {  // Used by one thread.
    let name: String
    var place: Int?

    init(_ name: String) { self.name = name }

    func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool { true }
  }

  private let first = Work("1")
  private let second = Work("2")
  private let third = Work("3")

  private func names(_ waiting: WaitingWork) -> String {
    var waiting = waiting
    var names = ""
    while let work = waiting.popFirst() as? Work { names += work.name }
    return names
  }

  @Test("T2: work that has been served moves behind the remaining work") func roundRobin() {
    var waiting = WaitingWork()
    #expect(waiting.isEmpty && waiting.popFirst() == nil)
    waiting.append(first, count: 3)
    waiting.append(second, count: 1)
    waiting.append(third, count: 2)
    #expect(waiting.count == 6)
    #expect(names(waiting) == "123131")
    waiting.append(first, count: 0)
    #expect(waiting.count == 6)
  }

  @Test("T2: work that is requested again immediately requests more workers, in one entry") func merging() {
    var waiting = WaitingWork()
    waiting.append(first, count: 1)
    waiting.append(first, count: 1)
    #expect(waiting.count == 2 && waiting.works.count == 1)
    waiting.append(second, count: 1)
    waiting.append(first, count: 1)
    #expect(waiting.count == 4 && waiting.works.count == 3)
    #expect(names(waiting) == "1211")
  }

  @Test("T2: the oldest matching work is taken, and the remaining work keeps its order") func condition() {
    var waiting = WaitingWork()
    waiting.append(first, count: 2)
    waiting.append(second, count: 2)
    waiting.append(third, count: 1)
    let found = waiting.popFirst { $0 !== first } as? Work
    #expect(found === second && waiting.count == 4)
    #expect(waiting.popFirst { _ in false } == nil)
    #expect(waiting.count == 4)
    #expect(names(waiting) == "1231")
  }

  @Test("Q16: work that requests helpers waits in one entry, which is removed when it is withdrawn")
  func withdrawing() {
    var waiting = WaitingWork()
    waiting.append(helpersFor: first, count: 1)
    waiting.append(second, count: 1)
    waiting.append(helpersFor: first, count: 2)
    #expect(waiting.count == 4 && waiting.works.count == 2)
    #expect(waiting.withdraw(first) == 3 && waiting.withdraw(first) == 0)
    // Another one has its place by now.
    waiting.append(third, count: 1)
    #expect(waiting.withdraw(first) == 0)
    #expect(names(waiting) == "23")
  }

  @Test("T2: any sequence of requests serves as a list of single requests does", arguments: 1...50)
  func random(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let works = [first, second, third]
    var waiting = WaitingWork()
    var wishes: [String: Int] = [:]
    for _ in 0..<200 {
      let work = works[Int.random(in: 0..<3, using: &generator)]
      switch Int.random(in: 0..<3, using: &generator) {
      case 0:
        let count = Int.random(in: 0...4, using: &generator)
        if work === third {
          waiting.append(helpersFor: work, count: count)
        } else {
          waiting.append(work, count: count)
        }
        wishes[work.name, default: 0] += count
      case 1 where work === third:
        #expect(waiting.withdraw(work) == wishes[work.name, default: 0])
        wishes[work.name] = 0
      case 1:
        if let taken = waiting.popFirst() as? Work { wishes[taken.name, default: 0] -= 1 }
      default:
        let wanted = wishes[work.name, default: 0] > 0
        #expect((waiting.popFirst { $0 === work } != nil) == wanted)
        if wanted { wishes[work.name, default: 0] -= 1 }
      }
      #expect(wishes.values.allSatisfy { $0 >= 0 } && waiting.count == wishes.values.reduce(0, +))
      #expect(Set(waiting.works.compactMap { ($0 as? Work)?.name }) == Set(wishes.filter { $0.value > 0 }.keys))
    }
  }
}
