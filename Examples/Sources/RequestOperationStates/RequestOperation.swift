import Headway
import Synchronization

/// A request as an operation.
///
/// It runs as long as its connection does, without occupying a thread.
///
/// It manages and announces its states itself. Cancelling ends it immediately, in every state, and stops the
/// connection. Two threads might try to finish it: the cancelling thread and the delivering thread. `finish()` lets
/// only one of them succeed.
final class RequestOperation: Operation, @unchecked Sendable {  // A lock protects all mutable state.
  private struct Request {
    // No observer can exist yet when the operation is created as ready, so this is the only change that is not
    // announced.
    var state = RequestState.ready
    var address: String
    var resultData: [UInt8] = []
  }

  private let connection: LocalConnection
  private let request: Mutex<Request>

  init(address: String, connection: LocalConnection) {
    self.connection = connection
    request = Mutex(Request(address: address))
    super.init()
  }

  /// The address that the request has reached, after redirects.
  var address: String { request.withLock { $0.address } }

  var resultData: [UInt8] { request.withLock { $0.resultData } }

  private var requestState: RequestState { request.withLock { $0.state } }

  // MARK: What an operation overrides

  override var isAsynchronous: Bool { true }

  override var isReady: Bool { requestState == .ready && super.isReady }

  override var isExecuting: Bool { requestState == .executing }

  override var isFinished: Bool { requestState == .finished }

  override func start() {
    if isCancelled { return finish() }
    executeRequest()
  }

  override func cancel() {
    super.cancel()
    connection.cancel()
    finish()
  }

  // MARK: The states

  private func executeRequest() {
    willChangeValue(for: \.isExecuting)
    let isFirst = request.withLock { request in
      guard request.state == .ready else { return false }
      request.state = .executing
      return true
    }
    guard isFirst else { return }  // It was cancelled after `start()` had checked.
    didChangeValue(for: \.isExecuting)

    // After the change, because an event might end the request immediately. If the request is cancelled here, no events
    // arrive.
    connection.start(delegate: self)
  }

  private func finish() {
    willChangeValue(for: \.isExecuting)
    willChangeValue(for: \.isFinished)
    let before = request.withLock { request in
      defer { request.state = .finished }
      return request.state
    }
    guard before != .finished else { return }
    if before == .executing { didChangeValue(for: \.isExecuting) }
    didChangeValue(for: \.isFinished)
  }
}

extension RequestOperation: LocalConnectionDelegate {
  func connection(_ connection: LocalConnection, didRedirectTo address: String) {
    request.withLock { $0.address = address }
  }

  func connection(_ connection: LocalConnection, didReceiveResponse status: Int) {
    request.withLock { $0.resultData = [] }
  }

  func connection(_ connection: LocalConnection, didReceive data: [UInt8]) {
    request.withLock { $0.resultData += data }
  }

  func connectionDidFinishLoading(_ connection: LocalConnection) { finish() }

  func connection(_ connection: LocalConnection, didFailWith error: any Error) {
    recordError(error)
    finish()
  }
}
