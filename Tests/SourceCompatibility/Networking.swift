// Sessions, and operations around them.

// MARK: sessions with a delegate queue
// Imports: Foundation, FoundationNetworking

private final class Client: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  let queue = OperationQueue()
  var optional: OperationQueue?
  lazy var session = URLSession(configuration: .default, delegate: self, delegateQueue: queue)
  lazy var onMain = URLSession(configuration: .ephemeral, delegate: self, delegateQueue: .main)
  lazy var onMainQueue = URLSession(configuration: .default, delegate: nil, delegateQueue: OperationQueue.main)
  lazy var onAny = URLSession(configuration: .default, delegate: self, delegateQueue: nil)
  lazy var onOptional = URLSession(configuration: .default, delegate: self, delegateQueue: optional)
  lazy var onNew = URLSession(configuration: .default, delegate: self, delegateQueue: OperationQueue())
  lazy var onCurrent = URLSession(configuration: .default, delegate: self, delegateQueue: .current)
  lazy var plain = URLSession(configuration: .default)
  let shared = URLSession.shared
}

// MARK: reading the delegate queue
// Imports: Foundation, FoundationNetworking

private func schedule(_ session: URLSession, _ queue: OperationQueue) -> Bool {
  session.delegateQueue.addOperation { print("in the queue of the session") }
  let read: OperationQueue = session.delegateQueue
  read.addOperation { print("too") }
  read.addOperation(BlockOperation {})
  session.delegateQueue.maxConcurrentOperationCount = 1
  return session.delegateQueue == queue
}

private func queue(of session: URLSession) -> OperationQueue { session.delegateQueue }

// MARK: adding an operation to a delegate queue
// Imports: Foundation, FoundationNetworking

private func add(_ operation: Operation, to session: URLSession) { session.delegateQueue.addOperation(operation) }

// MARK: an operation that loads
// Imports: Foundation, FoundationNetworking

private final class Download: Operation, @unchecked Sendable {
  private var task: URLSessionTask?
  private let request: URLRequest
  private let session: URLSession
  private var hasFinished = false {
    willSet { willChangeValue(forKey: "isFinished") }
    didSet { didChangeValue(forKey: "isFinished") }
  }
  var completion: ((Result<Data, Error>) -> Void)?
  init(_ address: URL, session: URLSession = .shared) {
    request = URLRequest(url: address)
    self.session = session
    super.init()
  }
  override var isAsynchronous: Bool { true }
  override var isFinished: Bool { hasFinished }
  override func start() {
    guard !isCancelled else {
      hasFinished = true
      return
    }
    task = session.dataTask(with: request) { [weak self] data, _, error in
      self?.completion?(error.map { .failure($0) } ?? .success(data ?? Data()))
      self?.hasFinished = true
    }
    task?.resume()
  }
  override func cancel() {
    task?.cancel()
    super.cancel()
  }
}

// MARK: an operation that is the delegate of a session
// Imports: Foundation, FoundationNetworking

private final class DelegatingDownload: Operation, URLSessionDataDelegate, @unchecked Sendable {
  private var received = Data()
  private var session: URLSession?
  override func start() {
    session = URLSession(configuration: .default, delegate: self, delegateQueue: nil)
    session?.dataTask(with: URL(string: "http://localhost")!).resume()
  }
  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { received += data }
  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    willChangeValue(for: \.isFinished)
    didChangeValue(for: \.isFinished)
    session.finishTasksAndInvalidate()
  }
}

// MARK: an operation queue that is the delegate of a session
// Imports: Foundation, FoundationNetworking

private final class Loader: OperationQueue, URLSessionDelegate, @unchecked Sendable {
  func makeSession() -> URLSession { URLSession(configuration: .default, delegate: self, delegateQueue: self) }
}
