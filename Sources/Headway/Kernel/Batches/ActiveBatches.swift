/// The active batches of a queue: an intrusive list.
///
/// It does not own them; their threads do.
struct ActiveBatches {
  private var first: Unmanaged<Batch>?
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func insert(_ batch: Batch) {
    batch.isActive = true
    batch.previousActive = nil
    batch.nextActive = first
    first?._withUnsafeGuaranteedRef { $0.previousActive = .passUnretained(batch) }
    first = .passUnretained(batch)
    count += 1
  }

  mutating func remove(_ batch: Batch) {
    batch.isActive = false
    let (previous, next) = (batch.previousActive, batch.nextActive)
    if let previous { previous._withUnsafeGuaranteedRef { $0.nextActive = next } } else { first = next }
    next?._withUnsafeGuaranteedRef { $0.previousActive = previous }
    count -= 1
  }

  func contains(where condition: (Batch) -> Bool) -> Bool {
    var result = false
    forEach { if condition($0) { result = true } }
    return result
  }

  func forEach(_ body: (Batch) -> Void) {
    var position = first
    while let batch = position {
      position = batch._withUnsafeGuaranteedRef { batch in
        body(batch)
        return batch.nextActive
      }
    }
  }
}
