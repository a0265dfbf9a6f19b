import Headway

/// The least that an operation of one's own needs: an initializer that takes what there is to do, and `main()`.
///
/// Once it runs, it does not hear of cancelling.
final class OQNonConcurrentOperation: Operation, @unchecked Sendable {  // What it adds does not change.
  let data: String

  init(data: String) {
    self.data = data
    super.init()
  }

  /// Does the work.
  ///
  /// There is nothing to catch here: what it throws is kept in `error`, and the operation finishes all the same.
  override func main() throws {
    print("Start executing main with data: \(data)")
    if data.isEmpty { throw NoData() }
    print("Finish executing main")
  }
}
