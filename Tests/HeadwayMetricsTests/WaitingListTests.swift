#if Observability
import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import HeadwayMetrics

@Suite("Waiting list", .hangLimit) struct WaitingListTests {
  private final class Key {}

  @Test("V3: the list agrees with a plain array after random changes", arguments: [1, 2, 3] as [UInt64])
  func agreesWithModel(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var list = WaitingList()
    var model: [(key: Key, added: Int64, hasStarted: Bool)] = []
    for time in 0..<Int64(5_000) {
      switch Int.random(in: 0..<4, using: &generator) {
      case 0, 1:
        let key = Key()
        model.append((key, time, false))
        let isAdded = [list.add(ObjectIdentifier(key), at: time), list.add(ObjectIdentifier(key), at: time)]
        #expect(isAdded == [true, false])
      case 2:
        guard let index = model.indices.randomElement(using: &generator) else { continue }
        let started = list.start(ObjectIdentifier(model[index].key), at: time)
        #expect(started?.added == (model[index].hasStarted ? nil : model[index].added))
        model[index].hasStarted = true
        guard Bool.random(using: &generator) else { continue }
        let isPaused = list.pause(ObjectIdentifier(model[index].key))
        #expect(isPaused)
      default:
        guard let index = model.indices.randomElement(using: &generator) else { continue }
        let entry = model.remove(at: index)
        let removed = [list.remove(ObjectIdentifier(entry.key)), list.remove(ObjectIdentifier(entry.key))]
        #expect(removed.map { $0?.added } == [entry.added, nil])
      }
      #expect(list.oldest == model.first { !$0.hasStarted }?.added)
    }
    #expect(list.count(.waiting) + list.count(.running) == model.count)
  }
}
#endif
