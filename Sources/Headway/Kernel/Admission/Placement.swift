/// The class of workers that run the operations of a queue.
struct Placement {
  var quality: QualityOfService
  /// Whether classes matter: they do if the queue's operations run on Headway's threads.
  var hasClasses: Bool

  /// The class of operations without their own quality of service.
  var ownClass: WorkerClass { hasClasses ? quality.workerClass : .normal }

  func workerClass(of operation: Operation) -> WorkerClass {
    hasClasses && operation.state.current.hasQuality ? operation.effectiveQuality(in: quality).workerClass : ownClass
  }

  /// The level of quality of service that an operation raises others to if it waits for them.
  func raisingLevel(of word: OperationWord) -> Int { max(word.qualityLevel, quality.level) }

  /// The class that an operation raises others to if it waits for them, or the lowest class if it raises none.
  func raisingClass(of word: OperationWord) -> WorkerClass { WorkerClass(raisingLevel: raisingLevel(of: word)) }

  /// The result of ``raisingClass(of:)``, or the lowest class if the operation is not more urgent than the queue.
  func urgency(of word: OperationWord) -> WorkerClass {
    let level = word.qualityLevel
    return level > quality.level ? WorkerClass(raisingLevel: level) : .background
  }
}
