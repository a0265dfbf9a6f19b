import Synchronization

/// The single answer to a request for a batch.
///
/// The first caller provides it: the read, a cancellation, or the guard of a discarded operation.
///
/// A task requests a batch and waits. When the task is cancelled, the read operation might be blocked (for example, on
/// a FIFO whose writer is silent), and the task must not wait for it. Therefore, both the read and the cancellation
/// answer, and the second answer is dropped.
final class Answer<Value: Sendable>: Sendable {
  private enum State {
    /// No task waits yet, and there is no answer.
    case open
    /// A task waits.
    case awaited(CheckedContinuation<Value, any Error>)
    /// Answered before a task waited: a cancellation can be that early.
    case early(Result<Value, any Error>)
    /// The answer has been delivered.
    case given
  }

  private let state = Mutex(State.open)

  /// Resumes the continuation when there is an answer, or immediately if there is one already.
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

  /// Provides the answer, unless there is one already.
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
    // Outside the lock: resuming runs the executor's code.
    waiting?.resume(with: result)
  }
}

/// Answers for an operation that is discarded before it runs.
///
/// A queue discards all its waiting operations when it is cancelled.
///
/// The operation's closure owns the only reference. When the closure is released, the waiting task is resumed with an
/// error.
final class AnswerGuard<Value: Sendable>: Sendable {
  let answer: Answer<Value>

  init(_ answer: Answer<Value>) { self.answer = answer }

  deinit { answer.give(.failure(CancellationError())) }
}
