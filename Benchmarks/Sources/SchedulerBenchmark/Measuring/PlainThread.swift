import Glibc

/// A plain thread of the system.
enum PlainThread {
  private final class Start {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  static func start(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let start = Unmanaged.passRetained(Start(body)).toOpaque()
    let status = pthread_create(
      &thread, nil,
      { argument in
        if let argument { Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body() }
        return nil
      }, start)
    precondition(status == 0, "A thread could not be created: error \(status).")
    pthread_detach(thread)
  }
}
