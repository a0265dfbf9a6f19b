/// The object whose observers the calling thread is notifying.
///
/// A context is on the thread's stack, and the thread's values point to the innermost one.
struct NotificationContext {
  private let object: UnsafeMutableRawPointer
  private let outer: UnsafeMutablePointer<NotificationContext>?

  private static var current: UnsafeMutablePointer<NotificationContext>? {
    ThreadValues.existing?.pointee.notification?.assumingMemoryBound(to: NotificationContext.self)
  }

  /// Runs `body`, which notifies the observers of `object`.
  static func run(notifyingOf object: AnyObject, _ body: () -> Void) {
    var context = NotificationContext(object: Unmanaged.passUnretained(object).toOpaque(), outer: current)
    withUnsafeMutablePointer(to: &context) { pointer in
      let values = ThreadValues.current
      values.pointee.notification = UnsafeMutableRawPointer(pointer)
      body()
      values.pointee.notification = pointer.pointee.outer.map { UnsafeMutableRawPointer($0) }
    }
  }

  /// Whether the calling thread is notifying the observers of `object`: it is inside one of them, at any depth.
  static func isNotifying(_ object: AnyObject) -> Bool {
    let object = Unmanaged.passUnretained(object).toOpaque()
    var position = current
    while let context = position?.pointee {
      if context.object == object { return true }
      position = context.outer
    }
    return false
  }
}
