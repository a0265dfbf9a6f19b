#if Jobs
import CHeadwayJobsTestSupport

/// Runs an action between two steps of a checkpoint: before one of its calls to the file system.
///
/// The thread of the checkpoint runs the action, so a test needs no other thread and waits for nothing.
final class Gate {
  /// The calls that checkpoints have made since the gate was armed.
  private(set) var methods: [String] = []
  private var call: Int?
  private var action: (() -> Void)?
  let pointer = UnsafeMutablePointer<headway_checkpoint_gate>.allocate(capacity: 1)

  init() {
    pointer.initialize(
      to: headway_checkpoint_gate(
        reached: { context, method in
          guard let context, let method else { return }
          Unmanaged<Gate>.fromOpaque(context).takeUnretainedValue().reach(String(cString: method))
        }, context: Unmanaged.passUnretained(self).toOpaque()))
  }

  deinit { pointer.deallocate() }

  /// Runs an action once, before the call with this number.
  func arm(at call: Int, _ action: @escaping () -> Void) {
    methods = []
    self.call = call
    self.action = action
  }

  func disarm() { (call, action) = (nil, nil) }

  private func reach(_ method: String) {
    guard let call else { return }
    methods.append(method)
    guard methods.count == call + 1, let action else { return }
    self.action = nil
    action()
  }
}
#endif
