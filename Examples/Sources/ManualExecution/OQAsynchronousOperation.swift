import Dispatch
import Headway

/// An operation that works elsewhere, and says when it is done.
final class OQAsynchronousOperation: AsynchronousOperation, @unchecked Sendable {  // It adds nothing that changes.
  override func main() {
    DispatchQueue.global().async {
      print("The asynchronous one works")
      self.finish()
    }
  }
}
