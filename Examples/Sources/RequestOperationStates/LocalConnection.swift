import Dispatch
import HeadwayTestKit
import Synchronization

/// Simulates a connection: the events that the example sends arrive on a dispatch queue.
///
/// A cancelled connection delivers no further events.
final class LocalConnection: Sendable {
  enum Event: Sendable {
    case redirect(String)
    case response(Int)
    case data([UInt8])
    case end
    case failure(any Error)
  }

  private struct State {
    weak var delegate: (any LocalConnectionDelegate)?
    var isCancelled = false
  }

  /// Opens when the connection has been started.
  let started = Gate()

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "connection")

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Starts to deliver to `delegate`, which it does not retain.
  func start(delegate: any LocalConnectionDelegate) {
    state.withLock { $0.delegate = delegate }
    started.open()
  }

  func cancel() { state.withLock { $0.isCancelled = true } }

  /// Sends an event and returns immediately.
  func send(_ event: Event) { queue.async { self.deliver(event) } }

  /// Returns when all events have been delivered or dropped.
  func waitUntilDelivered() { queue.sync {} }

  private func deliver(_ event: Event) {
    // The delegate is called after the lock is released, because it might cancel the connection.
    guard let delegate = state.withLock({ $0.isCancelled ? nil : $0.delegate }) else { return }
    switch event {
    case .redirect(let address): delegate.connection(self, didRedirectTo: address)
    case .response(let status): delegate.connection(self, didReceiveResponse: status)
    case .data(let data): delegate.connection(self, didReceive: data)
    case .end: delegate.connectionDidFinishLoading(self)
    case .failure(let error): delegate.connection(self, didFailWith: error)
    }
  }
}
