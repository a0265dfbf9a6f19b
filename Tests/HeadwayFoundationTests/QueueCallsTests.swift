import HeadwayFoundation
import HeadwayFoundationNetworking
import HeadwayTestKit
import Testing

/// Foundation's own methods that take a queue, and values of its types that are passed to and from operations.
@Suite("Calls that take a queue", .hangLimit) struct QueueCallsTests {
  @Test("Q1: notifications are delivered in a queue, and the posting thread waits") func notifications() {
    let queue = OperationQueue()
    queue.name = "listeners"
    let center = NotificationCenter()
    let heard = EventRecorder<String>()
    let observer = center.addObserver(forName: nil, object: nil, queue: queue) { notification in
      heard.record("\(notification.name.rawValue) in \(OperationQueue.current?.name ?? "none")")
    }
    center.post(name: Notification.Name("published"), object: nil)
    #expect(heard.events == ["published in listeners"])
    center.removeObserver(observer)
    let plain = center.addObserver(forName: nil, object: nil, queue: nil) { _ in heard.record("at once") }
    center.post(name: Notification.Name("published"), object: nil)
    #expect(heard.events.last == "at once")
    center.removeObserver(plain)
  }

  @Test("Q9: the underlying queue of the main queue is the main dispatch queue, by identity and equality")
  func mainDispatchQueue() {
    let (queue, own) = (OperationQueue(), DispatchQueue(label: "own"))
    #expect(OperationQueue.main.underlyingQueue === DispatchQueue.main)
    #expect(OperationQueue.main.underlyingQueue == .main && !(OperationQueue.main.underlyingQueue != .main))
    #expect(queue.underlyingQueue == nil && queue.underlyingQueue !== DispatchQueue.main)
    queue.underlyingQueue = own
    #expect(queue.underlyingQueue === own && queue.underlyingQueue == own && queue.underlyingQueue != .main)
    #expect(queue.underlyingQueue !== DispatchQueue(label: "own"))
    queue.underlyingQueue = OperationQueue.main.underlyingQueue
    #expect(queue.underlyingQueue === DispatchQueue.main)
  }

  @Test("Q1: the queue of a notification can be an optional, the current queue, or nil") func optionalQueues() {
    let queue = OperationQueue()
    queue.name = "listeners"
    let center = NotificationCenter()
    let heard = EventRecorder<String>()
    let hear: @Sendable (Notification) -> Void = { _ in heard.record(OperationQueue.current?.name ?? "none") }
    let (optional, none): (OperationQueue?, OperationQueue?) = (queue, nil)
    queue.addOperations(
      [BlockOperation { _ = center.addObserver(forName: nil, object: nil, queue: .current, using: hear) }],
      waitUntilFinished: true)
    _ = center.addObserver(forName: nil, object: nil, queue: optional, using: hear)
    _ = center.addObserver(forName: nil, object: nil, queue: none, using: hear)
    _ = center.addObserver(forName: nil, object: nil, queue: nil, using: hear)
    let other = OperationQueue()
    other.name = "poster"
    other.addOperations(
      [BlockOperation { center.post(name: .init("published"), object: nil) }], waitUntilFinished: true)
    #expect(heard.events.sorted() == ["listeners", "listeners", "poster", "poster"])
  }

  @Test("P3: a quality of service is converted between operations, threads, processes and Dispatch") func qualities() {
    let (thread, process, queue) = (Thread {}, Process(), OperationQueue())
    for quality in QualityOfService.allCases {
      queue.qualityOfService = quality
      thread.qualityOfService = queue.qualityOfService
      process.qualityOfService = quality
      #expect(thread.qualityOfService == quality && process.qualityOfService == quality)
      #expect(thread.qualityOfService == Foundation.QualityOfService(quality))
      #expect(QualityOfService(Foundation.QualityOfService(quality)) == quality)
      #expect(QualityOfService(DispatchQoS.QoSClass(quality)) == quality)
      #expect(QualityOfService(DispatchQoS(quality, relativePriority: -1)) == quality)
    }
    thread.qualityOfService = .utility
    queue.qualityOfService = thread.qualityOfService
    #expect(queue.qualityOfService == .utility)
    #expect(QualityOfService(DispatchQoS.QoSClass.unspecified) == .default)
  }

  @Test("Q1: a Foundation queue passes its operations to a Headway queue") func forwarding() {
    let queue = OperationQueue()
    queue.name = "behind"
    let heard = EventRecorder<String>()
    let foundation = queue.makeFoundationQueue()
    foundation.maxConcurrentOperationCount = 1
    foundation.qualityOfService = .utility
    #expect(queue.maxConcurrentOperationCount == 1 && queue.qualityOfService == .utility)
    foundation.isSuspended = true
    foundation.addOperation { heard.record(OperationQueue.current?.name ?? "none") }
    foundation.addBarrierBlock { heard.record("barrier") }
    foundation.addOperation { heard.record("last") }
    #expect(queue.isSuspended && queue.operationCount == 3)
    foundation.isSuspended = false
    foundation.waitUntilAllOperationsAreFinished()
    #expect(heard.events == ["behind", "barrier", "last"])
    #expect(foundation.headwayQueue === queue)
  }

  @Test("Q9: a Headway queue runs its operations in a Foundation queue") func queueOnFoundation() {
    let foundation = Foundation.OperationQueue()
    foundation.maxConcurrentOperationCount = 1
    let queue = foundation.headwayQueue
    #expect(foundation.headwayQueue === queue)
    #expect(Foundation.OperationQueue.main.headwayQueue === OperationQueue.main)
    let places = EventRecorder<Bool>()
    let (first, second) = (Foundation.BlockOperation(), BlockOperation())
    first.addExecutionBlock { places.record(false) }
    second.addExecutionBlock {
      places.record(Foundation.OperationQueue.current === foundation && OperationQueue.current === queue)
    }
    foundation.addOperation(first)
    queue.addOperations([second], waitUntilFinished: true)
    #expect(places.events == [false, true])
  }

  @Test("Q1: a session calls its delegate in a Headway queue, which can be read back") func sessions() async {
    final class Client: NSObject, URLSessionDataDelegate {
      let heard = EventRecorder<String>()
      let ended = AsyncStream.makeStream(of: Void.self)
      func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        heard.record("\(String(decoding: data, as: UTF8.self)) in \(OperationQueue.current?.name ?? "none")")
      }
      func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        heard.record("end in \(OperationQueue.current?.name ?? "none")")
        session.finishTasksAndInvalidate()
      }
      func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        ended.continuation.finish()
      }
    }
    let queue = OperationQueue()
    queue.name = "delegates"
    queue.maxConcurrentOperationCount = 1
    let (client, configuration) = (Client(), URLSessionConfiguration.ephemeral)
    configuration.protocolClasses = [Replying.self]
    let session = URLSession(configuration: configuration, delegate: client, delegateQueue: queue)
    let read: OperationQueue = session.delegateQueue
    #expect(read === queue && session.delegateQueue == queue)
    #expect(session.delegateQueue === queue && queue === session.delegateQueue)
    #expect(session.delegateQueue !== OperationQueue.main && !(queue !== session.delegateQueue))
    session.dataTask(with: URL(string: "reply://hello")!).resume()
    for await _ in client.ended.stream {}
    #expect(client.heard.events == ["hello in delegates", "end in delegates"])
    let own = URLSession(configuration: configuration, delegate: nil, delegateQueue: nil)
    let ownQueue: OperationQueue = own.delegateQueue
    ownQueue.addOperations([BlockOperation {}], waitUntilFinished: true)
    #expect(ownQueue == own.delegateQueue)
  }
}

/// Returns the host's name, without a network.
private final class Replying: URLProtocol {
  override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "reply" }
  override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
  override func startLoading() {
    guard let url = request.url else { return }
    let response = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
    client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    client?.urlProtocol(self, didLoad: Data((url.host ?? "").utf8))
    client?.urlProtocolDidFinishLoading(self)
  }
  override func stopLoading() {}
}
