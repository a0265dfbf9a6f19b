#if Drawing
import HeadwayTestKit
import Testing

@testable import HeadwayDrawing

@Suite("CellRendererState", .hangLimit) struct CellRendererStateTests {
  /// A simple model of the required state, next to the state machine.
  private struct Model {
    typealias State = CellRendererState<Int, String, Int>

    static let costLimit = 50
    var state = State(costLimit: costLimit)
    var generator: SeededGenerator

    var visible: Set<Int> = []
    /// The newest request of each key that was neither delivered nor discarded.
    var wanted: [Int: String] = [:]
    /// The content that is drawn, and whether the drawing was cancelled.
    var drawings: [Int: (content: String, isCancelled: Bool)] = [:]

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func step() {
      let key = Int.random(in: 0..<6, using: &generator)
      switch Int.random(in: 0..<10, using: &generator) {
      case 0...3: request(["a", "b", "c", "large"].randomElement(using: &generator)!, for: key)
      case 4...6: setVisible(Set((0..<6).filter { _ in Bool.random(using: &generator) }))
      case 7, 8: endAny()
      default: if Int.random(in: 0..<10, using: &generator) == 0 { state.removeCachedValues() }
      }
      check()
    }

    private func cost(_ content: String) -> Int { content == "large" ? 60 : 20 }

    private mutating func request(_ content: String, for key: Int) {
      let isSame = wanted[key] == content
      let (value, actions) = state.request(content, for: key)
      if let value {
        #expect(value == cost(content) && !isSame)
        wanted[key] = nil
      } else {
        wanted[key] = content
      }
      carryOut(actions)
      #expect(!isSame || actions.isEmpty)
    }

    private mutating func setVisible(_ keys: Set<Int>) {
      visible = keys
      wanted = wanted.filter { keys.contains($0.key) }
      carryOut(state.setVisible(keys))
    }

    private mutating func endAny() {
      guard let number = drawings.keys.sorted().randomElement(using: &generator),
        let drawing = drawings.removeValue(forKey: number)
      else { return }
      // A drawing that was cancelled might have finished by then.
      let isDrawn = Bool.random(using: &generator)
      let end = state.ended(number, value: isDrawn ? cost(drawing.content) : nil, cost: cost(drawing.content))
      #expect(end?.content == drawing.content)
      let keys = Set(wanted.filter { visible.contains($0.key) && $0.value == drawing.content }.keys)
      var delivered: Set<Int> = []
      for case .deliver(let key, let content) in end?.deliveries ?? [] where state.takeRequest(of: key, for: content) {
        delivered.insert(key)
        wanted[key] = nil
      }
      #expect(delivered == (drawing.isCancelled ? [] : keys))
      #expect(state.ended(number, value: nil, cost: 0) == nil)
    }

    private mutating func carryOut(_ actions: [State.Action]) {
      for action in actions {
        switch action {
        case .start(let content, let number):
          #expect(drawings[number] == nil && state.needs(number))
          drawings[number] = (content, false)
        case .cancel(let number):
          #expect(drawings[number]?.isCancelled == false && !state.needs(number))
          drawings[number]?.isCancelled = true
        case .deliver(let key, let content):
          let isTaken = state.cachedValue(for: content) != nil && state.takeRequest(of: key, for: content)
          #expect(isTaken && wanted[key] == content && visible.contains(key))
          wanted[key] = nil
        }
      }
    }

    private func check() {
      let needed = Set(wanted.filter { visible.contains($0.key) }.values)
      let drawn = drawings.values.filter { !$0.isCancelled }.map(\.content)
      #expect(drawn.sorted() == needed.sorted())  // Each content is drawn once.
      #expect(state.visible == visible && state.workCount == needed.count && state.requestCount == wanted.count)
      #expect(state.cachedCost <= Self.costLimit && state.cachedCost == 20 * state.cachedCount)
    }
  }

  @Test("R2: the state matches the model after random commands", arguments: 0..<8) func programs(_ part: Int) {
    for seed in part * 25..<(part + 1) * 25 {
      var model = Model(seed: UInt64(seed))
      for _ in 0..<200 { model.step() }
    }
  }

  @Test("R2: the cache keeps the most recently used values up to its limit") func recentValues() {
    var cache = RecentValues<Int, String>(costLimit: 10)
    for key in 0..<5 { cache.insert("\(key)", for: key, cost: 2) }
    #expect(cache.value(for: 0) == "0")
    cache.insert("5", for: 5, cost: 4)
    #expect(cache.cost == 10 && cache.count == 4)
    for key in 0..<6 { #expect((cache.value(for: key) == nil) == [1, 2].contains(key)) }
    cache.insert("again", for: 3, cost: 1)
    #expect(cache.cost == 9 && cache.value(for: 3) == "again")
    cache.insert("too large", for: 3, cost: 11)
    #expect(cache.value(for: 3) == nil && cache.cost == 8)
    for _ in 0..<10_000 { _ = cache.value(for: 0) }
    cache.insert("all", for: 9, cost: 10)
    #expect(cache.count == 1 && cache.cost == 10)
    cache.removeAll()
    #expect(cache.count == 0 && cache.cost == 0)
  }
}
#endif
