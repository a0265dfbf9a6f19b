// The operations and the queue of the tram app.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

/// An operation whose work continues after `start()` has returned, until `finish()` is called.
class AsynchronousOperation: Operation, @unchecked Sendable {
  private enum State { case waiting, executing, finished }

  private let lock = NSLock()
  private var state = State.waiting
  private var isEnding = false

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { lock.withLock { state == .executing } }
  override var isFinished: Bool { lock.withLock { state == .finished } }

  override func start() {
    guard !isCancelled else { return finish() }
    willChangeValue(for: \.isExecuting)
    lock.withLock { state = .executing }
    didChangeValue(for: \.isExecuting)
    main()
  }

  final func finish() {
    let isFirst = lock.withLock {
      defer { isEnding = true }
      return !isEnding
    }
    guard isFirst else { return }
    willChangeValue(for: \.isExecuting)
    willChangeValue(for: \.isFinished)
    lock.withLock { state = .finished }
    didChangeValue(for: \.isExecuting)
    didChangeValue(for: \.isFinished)
  }
}

final class FetchOperation: AsynchronousOperation, @unchecked Sendable {
  let stop: String
  private(set) var text: String?

  init(stop: String) {
    self.stop = stop
    super.init()
    name = "fetch \(stop)"
  }

  override func main() {
    Service.request(stop) { text in
      if !self.isCancelled { self.text = text }
      self.finish()
    }
  }

  override func cancel() {
    super.cancel()
    if isExecuting { finish() }
  }
}

final class ParseOperation: Operation, @unchecked Sendable {
  private(set) var departures: [Departure] = []
  private(set) var rejected = 0

  override func main() {
    for case let fetch as FetchOperation in dependencies {
      for line in (fetch.text ?? "").split(separator: "\n") {
        if isCancelled { return }
        let fields = line.split(separator: " ")
        if fields.count == 2, fields[0].contains(":") {
          departures.append(Departure(time: String(fields[0]), line: String(fields[1])))
        } else {
          rejected += 1
        }
      }
    }
  }
}

/// Saves the parsed departures and reports when it is done.
final class SaveOperation: Operation, @unchecked Sendable {
  private let stop: String
  private let timetable: Timetable
  private var parse: ParseOperation?

  init(stop: String, timetable: Timetable) {
    self.stop = stop
    self.timetable = timetable
    super.init()
    qualityOfService = .utility
  }

  override func addDependency(_ operation: Operation) {
    precondition(!isExecuting, "dependencies come before the start")
    if let parse = operation as? ParseOperation { self.parse = parse }
    super.addDependency(operation)
  }

  override var completionBlock: (@Sendable () -> Void)? {
    get { super.completionBlock }
    set {
      let (timetable, stop) = (timetable, stop)
      guard let newValue else { return super.completionBlock = nil }
      super.completionBlock = {
        timetable.note("\(stop): completed")
        newValue()
      }
    }
  }

  override func cancel() {
    if !isCancelled { timetable.note("\(stop): no longer wanted") }
    super.cancel()
  }

  override func main() {
    guard let parse, !parse.isCancelled else { return }
    timetable.save(parse.departures, for: stop)
    timetable.note("\(stop): saved \(parse.departures.count), rejected \(parse.rejected)")
  }
}

/// A queue that names unnamed operations and counts the operations that were added to it.
final class NamingQueue: OperationQueue, @unchecked Sendable {
  private let lock = NSLock()
  private var count = 0

  var addedCount: Int { lock.withLock { count } }

  override func addOperation(_ operation: Operation) {
    lock.withLock { count += 1 }
    if operation.name == nil { operation.name = "\(type(of: operation)) \(addedCount)" }
    super.addOperation(operation)
  }
}

extension Operation {
  /// Adds a block to the completion blocks.
  func addCompletionBlock(_ block: @escaping @Sendable () -> Void) {
    guard let first = completionBlock else { return completionBlock = block }
    completionBlock = {
      first()
      block()
    }
  }
}
