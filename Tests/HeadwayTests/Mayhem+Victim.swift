import Dispatch
import HeadwayTestKit
import Synchronization

@testable import Headway

/// An operation that counts what happens to it.
final class Victim: CountedOperation, @unchecked Sendable {
  enum Kind: CaseIterable {
    case plain, failing
    /// Goes on after `start()` has returned, and posts its changes.
    case posting
    /// Is ready when it is allowed to be.
    case held
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
  private let own = Mutex((isExecuting: false, isFinished: false, isAllowed: false, isWorkDone: false))
  private let tokens = Mutex<[ObservationToken]>([])
  private let work: (@Sendable () -> Void)?

  init(_ number: Int, _ kind: Kind, _ mayhem: Mayhem, work: (@Sendable () -> Void)?) {
    self.number = number
    self.kind = kind
    self.work = work
    super.init(mayhem.census)
    completionBlock = { [weak self] in self?.calls.withLock { $0.completed += 1 } }
    onCancel { [weak self] in self?.calls.withLock { $0.cancelled += 1 } }
  }

  override var isAsynchronous: Bool { kind == .posting }
  override var isExecuting: Bool { kind == .posting ? own.withLock { $0.isExecuting } : super.isExecuting }
  override var isFinished: Bool { kind == .posting ? own.withLock { $0.isFinished } : super.isFinished }
  override var isReady: Bool { super.isReady && (kind != .held || own.withLock { $0.isAllowed }) }

  override func start() {
    guard kind == .posting else { return super.start() }
    guard !isCancelled else { return set(executing: false, finished: true) }
    set(executing: true, finished: false)
    enterAndLeave()
    own.withLock { $0.isWorkDone = true }
    DispatchQueue.global().async { self.complete() }
  }

  override func main() throws {
    enterAndLeave()
    if kind == .failing { throw Mishap() }
  }

  private func enterAndLeave() {
    let crowd = crowd.withLock { $0 }
    crowd?.enter()
    calls.withLock { $0.main += 1 }
    work?()
    progress.totalUnitCount = 2
    progress.completedUnitCount = 1
    crowd?.leave()
  }

  /// Ends a posting operation whose work is done.
  func complete() {
    if kind == .posting, own.withLock({ $0.isWorkDone }) { set(executing: false, finished: true) }
  }

  private func set(executing: Bool, finished: Bool) {
    own.withLock { own in
      guard !own.isFinished else { return }
      (own.isExecuting, own.isFinished) = (executing, finished)
    }
    didChangeValue(for: \.isExecuting)
    didChangeValue(for: \.isFinished)
  }

  func allow(_ isAllowed: Bool) {
    own.withLock { $0.isAllowed = isAllowed }
    didChangeValue(for: \.isReady)
  }

  // MARK: Being observed

  /// From now on, notes what observers are told.
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

  /// What should not have happened to this operation, which has finished.
  var whatIsWrong: String? {
    let calls = calls.withLock { $0 }
    if calls.completed != 1 || calls.main > 1 || (calls.main == 0 && !isCancelled) { return "was called \(calls)" }
    if calls.cancelled != (isCancelled ? 1 : 0) {
      return "its handler of cancellation was called \(calls.cancelled) times"
    }
    guard !tokens.withLock({ $0.isEmpty }) else { return nil }
    let told = calls.seen.filter { !$0.hasPrefix("cancelled") }
    let expected = calls.main == 0 ? ["finished true"] : ["executing true", "executing false", "finished true"]
    if told != expected { return "observers were told \(told)" }
    let cancellations = calls.seen.filter { $0.hasPrefix("cancelled") }
    return cancellations == (isCancelled ? ["cancelled true"] : []) ? nil : "observers were told \(cancellations)"
  }
}
