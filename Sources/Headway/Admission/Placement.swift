/// Where the operations of a queue run: on which class of workers.
struct Placement {
  var quality: QualityOfService
  /// Whether classes matter: the queue's operations run on the threads of this library.
  var hasClasses: Bool

  /// The class of operations of which nothing was said.
  var ownClass: WorkerClass { hasClasses ? quality.workerClass : .normal }

  func workerClass(of operation: Operation) -> WorkerClass {
    hasClasses ? operation.effectiveQuality(in: quality).workerClass : .normal
  }

  /// An operation raises others to this class if it waits for them; the lowest if it raises none.
  func raisingClass(of word: OperationWord) -> WorkerClass {
    WorkerClass(raisingLevel: max(word.qualityLevel, quality.level))
  }

  /// As ``raisingClass(of:)``; the lowest if the operation is not more urgent than the queue.
  func urgency(of word: OperationWord) -> WorkerClass {
    let level = word.qualityLevel
    return level > quality.level ? WorkerClass(raisingLevel: level) : .background
  }
}
