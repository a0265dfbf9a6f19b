/// The operations that a queue has started one by one, in one list per class, so that a class can be raised.
struct RunningOperations {
  private var normal = OperationList<PlaceLinks>()
  private var utility = OperationList<PlaceLinks>()
  private var background = OperationList<PlaceLinks>()

  subscript(workerClass: WorkerClass) -> OperationList<PlaceLinks> {
    _read {
      switch workerClass {
      case .normal: yield normal
      case .utility: yield utility
      case .background: yield background
      }
    }
    _modify {
      switch workerClass {
      case .normal: yield &normal
      case .utility: yield &utility
      case .background: yield &background
      }
    }
  }

  func forEach(_ body: (OperationReference) -> Void) {
    normal.forEach(body)
    utility.forEach(body)
    background.forEach(body)
  }
}
