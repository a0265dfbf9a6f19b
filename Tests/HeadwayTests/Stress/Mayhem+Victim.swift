import Dispatch
import HeadwayTestKit
import Synchronization

@testable import Headway

/// An operation that counts what happens to it.
class Victim: CountedOperation, @unchecked Sendable {
  enum Kind: CaseIterable {
    case plain, failing
    /// Continues after `start()` has returned, and posts its changes.
    case posting
    /// Is ready when the test allows it.
    case held

    var type: Victim.Type { self == .posting ? PostingVictim.self : Victim.self }
  }

  struct Calls {
    var main = 0
    var completed = 0
    var cancelled = 0
    var seen: [String] = []
  }

  let number: Int
  let kind: Kind
  let calls = Mutex(Calls())
  let crowd = Mutex<Crowd?>(nil)
  private let isAllowed = Mutex(false)
  private let tokens = Mutex<[KeyValueObservation]>([])
  private let work: (@Sendable () -> Void)?

  required init(_ number: Int, _ kind: Kind, _ mayhem: Mayhem, work: (@Sendable () -> Void)?) {
    self.number = number
    self.kind = kind
    self.work = work
    super.init(mayhem.census)
    completionBlock = { [weak self] in self?.calls.withLock { $0.completed += 1 } }
    onCancel { [weak self] in self?.calls.withLock { $0.cancelled += 1 } }
  }

  override var isReady: Bool { super.isReady && (kind != .held || isAllowed.withLock { $0 }) }

  override func main() throws {
    enterAndLeave()
    if kind == .failing { throw Mishap() }
  }

  fileprivate func enterAndLeave() {
    let crowd = crowd.withLock { $0 }
    crowd?.enter()
    calls.withLock { $0.main += 1 }
    work?()
    progress.totalUnitCount = 2
    progress.completedUnitCount = 1
    crowd?.leave()
  }

  func allow(_ isAllowed: Bool) {
    self.isAllowed.withLock { $0 = isAllowed }
    didChangeValue(for: \.isReady)
  }

  // MARK: Being observed

  /// From now on, records the notifications of observers.
  func beObserved() {
    let record = { @Sendable [weak self] (text: String) in self?.calls.withLock { $0.seen.append(text) } ?? () }
    tokens.withLock {
      $0 = [
        observe(\.isExecuting, options: .new) { _, change in record("executing \(change.newValue!)") },
        observe(\.isFinished, options: .new) { _, change in record("finished \(change.newValue!)") },
        observe(\.isCancelled, options: .new) { _, change in record("cancelled \(change.newValue!)") },
        observe(\.isReady, options: .new) { _, _ in },
      ]
    }
  }

  /// The events of this finished operation that should not have happened.
  var whatIsWrong: String? {
    let calls = calls.withLock { $0 }
    if calls.completed != 1 || calls.main > 1 || (calls.main == 0 && !isCancelled) { return "was called \(calls)" }
    if calls.cancelled != (isCancelled ? 1 : 0) {
      return "its handler of cancellation was called \(calls.cancelled) times"
    }
    guard !tokens.withLock({ $0.isEmpty }) else { return nil }
    let told = calls.seen.filter { !$0.hasPrefix("cancelled") }
    let expected = calls.main == 0 ? ["finished true"] : ["executing true", "executing false", "finished true"]
    if told != expected { return "observers were notified of \(told)" }
    let cancellations = calls.seen.filter { $0.hasPrefix("cancelled") }
    return cancellations == (isCancelled ? ["cancelled true"] : [])
      ? nil : "observers were notified of \(cancellations)"
  }
}

/// Has its own states, and posts their changes: continues after `start()` has returned.
final class PostingVictim: Victim, @unchecked Sendable {
  private let own = Mutex((isExecuting: false, isFinished: false, isWorkDone: false))

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { own.withLock { $0.isExecuting } }
  override var isFinished: Bool { own.withLock { $0.isFinished } }

  override func start() {
    guard !isCancelled else { return set(executing: false, finished: true) }
    set(executing: true, finished: false)
    enterAndLeave()
    own.withLock { $0.isWorkDone = true }
    DispatchQueue.global().async { self.complete() }
  }

  /// Ends it if its work is done.
  func complete() {
    if own.withLock({ $0.isWorkDone }) { set(executing: false, finished: true) }
  }

  private func set(executing: Bool, finished: Bool) {
    let changes = own.withLock { own in
      let old = own
      if !own.isFinished { (own.isExecuting, own.isFinished) = (executing, finished) }
      return (isExecuting: own.isExecuting != old.isExecuting, isFinished: own.isFinished != old.isFinished)
    }
    if changes.isExecuting { didChangeValue(for: \.isExecuting) }
    if changes.isFinished { didChangeValue(for: \.isFinished) }
  }
}
