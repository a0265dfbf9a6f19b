import Testing

@testable import HeadwayImport
@testable import HeadwaySampleData

@Suite("Import: key sets", .hangLimit)
struct KeySetTests {
  @Test("I3: a key set contains exactly the added hashes", arguments: [1, 2, 3] as [UInt64])
  func againstSet(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var keys = KeySet(minimumCapacity: random.below(50))
    // Zero marks an empty slot and represents 1.
    var model: Set<UInt64> = []
    func modelled(_ hash: UInt64) -> UInt64 { max(1, hash) }
    for _ in 0..<4_000 {
      let hash = randomHash(&random)
      if random.below(2) == 0 {
        let isNew = keys.insert(hash)
        #expect(isNew == model.insert(modelled(hash)).inserted)
      } else {
        #expect(keys.contains(hash) == model.contains(modelled(hash)))
      }
    }
    #expect(keys.count == model.count)
    #expect(model.allSatisfy { keys.contains($0) })
  }

  /// Often a small number, often a number that needs the same slot as other numbers, occasionally zero.
  private func randomHash(_ random: inout SplitMix64) -> UInt64 {
    switch random.below(4) {
    case 0: UInt64(random.below(300))
    case 1: UInt64(random.below(300)) << 32
    case 2: UInt64.max - UInt64(random.below(500))
    default: random.next()
    }
  }

  @Test("I3: a key set contains zero only after it is added")
  func zero() {
    var keys = KeySet()
    #expect(!keys.contains(0))
    let (isNew, isNewAgain) = (keys.insert(0), keys.insert(0))
    #expect(isNew)
    #expect(!isNewAgain)
    #expect(keys.contains(0))
    #expect(keys.count == 1)
  }

  @Test("I3: a growing key set keeps its elements", arguments: [0, 1, 2, 3, 48, 1_000])
  func growth(capacity: Int) {
    var keys = KeySet(minimumCapacity: capacity)
    for hash in 1...500 as ClosedRange<UInt64> {
      let isNew = keys.insert(hash << 40)
      #expect(isNew)
      #expect(keys.count == Int(hash))
    }
    #expect((1...500 as ClosedRange<UInt64>).allSatisfy { keys.contains($0 << 40) && !keys.contains($0) })
  }

  @Test("I3: keys that split the same text differently over columns have different hashes")
  func columns() {
    func hash(_ fields: [String]) -> UInt64 {
      let batch = RowBatch(columnCount: fields.count, capacity: 1)
      for (position, field) in fields.enumerated() {
        let start = Array(field.utf8).withUnsafeBytes { batch.append($0) }
        batch.nextRow[position] = .text(at: start, count: field.utf8.count)
      }
      return KeySet.hash(of: Array(fields.indices), in: batch.nextRow, of: batch)
    }
    #expect(hash(["ab", "c"]) == hash(["ab", "c"]))
    #expect(hash(["ab", "c"]) != hash(["a", "bc"]))
    #expect(hash(["", "a"]) != hash(["a", ""]))
  }
}
