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

  /// At which quality of service an operation runs, whether or not classes matter.
  func quality(of operation: Operation) -> QualityOfService { operation.effectiveQuality(in: quality) }

  /// The class to which an operation raises what it waits for in the queue; the lowest if it is no more urgent than all
  /// of the queue.
  func urgency(of word: OperationWord) -> WorkerClass {
    let level = word.qualityLevel
    guard level > quality.level else { return .background }
    return WorkerClass(raisingLevel: level)
  }
}

/// One value for each class of workers.
struct PerClass<Value> {
  /// The classes, without the array that `allCases` makes.
  @inline(__always)
  static func forEachClass(_ body: (WorkerClass) -> Void) {
    body(.normal)
    body(.utility)
    body(.background)
  }

  private var values: (Value, Value, Value)

  init(_ value: Value) { values = (value, value, value) }

  init(normal: Value, utility: Value, background: Value) { values = (normal, utility, background) }

  subscript(workerClass: WorkerClass) -> Value {
    @inline(__always) get {
      switch workerClass {
      case .normal: values.0
      case .utility: values.1
      case .background: values.2
      }
    }
    @inline(__always) _modify {
      switch workerClass {
      case .normal: yield &values.0
      case .utility: yield &values.1
      case .background: yield &values.2
      }
    }
  }
}

extension PerClass<Int> {
  var isZero: Bool { values.0 | values.1 | values.2 == 0 }
}
