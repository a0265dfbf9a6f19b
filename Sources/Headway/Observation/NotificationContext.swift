/// Of which objects the calling thread is notifying the observers, kept in a thread-specific value that points into the
/// thread's own stack.
struct NotificationContext {
  private let object: UnsafeMutableRawPointer
  private let outer: UnsafeMutablePointer<NotificationContext>?

  private static let key = ThreadKey()

  private static var current: UnsafeMutablePointer<NotificationContext>? {
    key.value?.assumingMemoryBound(to: NotificationContext.self)
  }

  /// Runs `body`, which notifies the observers of `object`.
  static func run(notifyingOf object: AnyObject, _ body: () -> Void) {
    var context = NotificationContext(object: Unmanaged.passUnretained(object).toOpaque(), outer: current)
    withUnsafeMutablePointer(to: &context) { pointer in
      key.value = UnsafeMutableRawPointer(pointer)
      body()
      key.value = pointer.pointee.outer.map { UnsafeMutableRawPointer($0) }
    }
  }

  /// Whether the calling thread is notifying the observers of `object`: it is inside one of them, however deep.
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
