import Headway

/// The minimum for a custom operation: an initializer that receives the data, and `main()`.
///
/// While it runs, cancelling has no effect.
final class OQNonConcurrentOperation: Operation, @unchecked Sendable {  // All added properties are constant.
  let data: String

  init(data: String) {
    self.data = data
    super.init()
  }

  /// Does the work.
  ///
  /// There is no need to catch errors here: a thrown error is stored in `error`, and the operation still finishes.
  override func main() throws {
    print("Start executing main with data: \(data)")
    if data.isEmpty { throw NoData() }
    print("Finish executing main")
  }
}
