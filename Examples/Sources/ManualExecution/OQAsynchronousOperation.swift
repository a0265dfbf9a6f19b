import Dispatch
import Headway

/// An operation that works on another thread and reports when it is done.
final class OQAsynchronousOperation: AsynchronousOperation, @unchecked Sendable {  // It adds no mutable state.
  override func main() {
    DispatchQueue.global().async {
      print("The asynchronous one works")
      self.finish()
    }
  }
}
