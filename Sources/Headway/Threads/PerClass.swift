/// One value per class of workers.
struct PerClass<Value> {
  /// Calls `body` with each class, without the array that `allCases` creates.
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
