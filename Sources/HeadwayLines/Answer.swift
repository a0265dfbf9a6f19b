import Synchronization

/// The one answer to one question, from whoever is first: the read, a cancellation, or nobody.
///
/// A task asks for a batch and waits. The operation that reads may be blocked (a FIFO whose writer is silent) when the
/// task is cancelled, and the task must not wait for it then. So both answer, and the second answer is dropped.
final class Answer<Value: Sendable>: Sendable {
  private enum State {
    /// Nobody waits yet, nobody has answered.
    case open
    /// A task waits.
    case awaited(CheckedContinuation<Value, any Error>)
    /// Answered before the task waited: a cancellation can be that early.
    case early(Result<Value, any Error>)
    /// Over.
    case given
  }

  private let state = Mutex(State.open)

  /// Has the continuation resumed with the answer, at once if there is one.
  func resumeWhenGiven(_ continuation: CheckedContinuation<Value, any Error>) {
    let early: Result<Value, any Error>? = state.withLock { state in
      if case .early(let result) = state {
        state = .given
        return result
      }
      state = .awaited(continuation)
      return nil
    }
    if let early { continuation.resume(with: early) }
  }

  /// Answers, unless that has been done.
  func give(_ result: Result<Value, any Error>) {
    let waiting: CheckedContinuation<Value, any Error>? = state.withLock { state in
      switch state {
      case .open:
        state = .early(result)
        return nil
      case .awaited(let continuation):
        state = .given
        return continuation
      case .early, .given:
        return nil
      }
    }
    // Outside of the lock: resuming runs the executor's code.
    waiting?.resume(with: result)
  }
}

/// Answers for an operation that is thrown away without having run: a queue does that with all it holds when it is
/// cancelled.
///
/// The operation's closure owns the only reference, and who waits learns of it when the closure goes.
final class AnswerGuard<Value: Sendable>: Sendable {
  let answer: Answer<Value>

  init(_ answer: Answer<Value>) { self.answer = answer }

  deinit { answer.give(.failure(CancellationError())) }
}
