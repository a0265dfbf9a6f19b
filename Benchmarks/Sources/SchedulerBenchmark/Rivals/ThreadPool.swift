import Glibc

/// Threads that claim work from one list, the oldest first.
///
/// They end when the pool is released.
final class ThreadPool: WorkQueue {
  private let shared = Shared()

  init(threads: Int = Processors.count) {
    for _ in 0..<threads { PlainThread.start { [shared] in shared.work() } }
  }

  deinit { shared.change { $0.ends = true } }

  func add(_ body: @escaping Body) { shared.add(body) }
  func suspend() { shared.change { $0.isSuspended = true } }
  func resume() { shared.change { $0.isSuspended = false } }
  func waitUntilEmpty() { shared.waitUntilEmpty() }
}

/// `mutex` protects everything.
private final class Shared: @unchecked Sendable {
  struct State {
    var isSuspended = false
    var ends = false
  }

  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let empty = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var state = State()
  private var sleeping = 0
  private var unfinished = 0
  /// The first `taken` of these have been claimed.
  private var list: [Body?] = []
  private var taken = 0

  init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(changed, nil)
    pthread_cond_init(empty, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    pthread_cond_destroy(changed)
    pthread_cond_destroy(empty)
    mutex.deallocate()
    changed.deallocate()
    empty.deallocate()
  }

  func add(_ body: @escaping Body) {
    pthread_mutex_lock(mutex)
    list.append(body)
    unfinished += 1
    if sleeping > 0 { pthread_cond_signal(changed) }
    pthread_mutex_unlock(mutex)
  }

  func change(_ body: (inout State) -> Void) {
    pthread_mutex_lock(mutex)
    body(&state)
    pthread_cond_broadcast(changed)
    pthread_mutex_unlock(mutex)
  }

  func waitUntilEmpty() {
    pthread_mutex_lock(mutex)
    while unfinished > 0 { pthread_cond_wait(empty, mutex) }
    pthread_mutex_unlock(mutex)
  }

  func work() {
    pthread_mutex_lock(mutex)
    while !state.ends {
      guard !state.isSuspended, let body = take() else {
        sleeping += 1
        pthread_cond_wait(changed, mutex)
        sleeping -= 1
        continue
      }
      pthread_mutex_unlock(mutex)
      body()
      pthread_mutex_lock(mutex)
      unfinished -= 1
      if unfinished == 0 { pthread_cond_broadcast(empty) }
    }
    pthread_mutex_unlock(mutex)
  }

  private func take() -> Body? {
    guard taken < list.count else { return nil }
    let body = list[taken]
    list[taken] = nil
    taken += 1
    if taken == list.count {
      list.removeAll(keepingCapacity: list.count < 1 << 16)
      taken = 0
    } else if taken > 1 << 16, taken > list.count / 2 {
      list.removeSubrange(..<taken)
      taken = 0
    }
    return body
  }
}
