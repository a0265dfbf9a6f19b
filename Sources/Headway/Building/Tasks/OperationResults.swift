import Synchronization

extension OperationQueueProtocol {
  /// Calls an asynchronous function with each of the inputs, several at a time, and returns the results as a sequence.
  ///
  /// ```swift
  /// let sizes = queue.results(of: addresses, inOrder: false) { try await fetch($0).utf8.count }
  /// for try await size in sizes { print(size) }
  /// ```
  ///
  /// Each call is an operation of the queue. At most `maxInFlightCount` calls are running or have a result that has not
  /// been requested yet, so even an endless sequence of inputs needs the memory of only a few. Nothing happens before
  /// the first result is requested, and each iteration calls the function again.
  ///
  /// After an error, no further call begins, and running calls are cancelled. If the results are in order, only the
  /// calls after the failed call are cancelled. The error is thrown at its position in the sequence, when none of the
  /// calls is running. If the task is cancelled, the same happens when it next requests a result, or immediately if it
  /// waits for one. Leaving the loop early cancels the running calls without waiting for them. Nothing waits for a
  /// sequence of inputs that is producing its next element.
  ///
  /// An operation that iterates over results of its own queue keeps its concurrency slot while it waits. If every
  /// slot is used in this way, none of them can proceed.
  ///
  /// - Parameters:
  ///   - inputs: The values to call `transform` with.
  ///   - isInOrder: Whether the results are in input order. Otherwise, they are in order of completion.
  ///   - maxInFlightCount: The maximum number of inputs in progress. The default is the number of operations that the
  ///     queue runs at the same time, or 64 if the system decides.
  ///   - transform: The function to call.
  /// - Returns: The results, as they become available.
  /// - Precondition: `maxInFlightCount` is 1 or more.
  public func results<Input: Sendable, Output: Sendable>(
    of inputs: some Sequence<Input> & Sendable, inOrder isInOrder: Bool = true, maxInFlightCount: Int? = nil,
    _ transform: @escaping @Sendable (Input) async throws -> Output
  ) -> OperationResults<Output> {
    results(isInOrder, maxInFlightCount) { buffer, queue in
      for input in inputs {
        guard await buffer.takePlace(), try buffer.add({ TaskOperation { try await transform(input) } }, to: queue)
        else { break }
      }
    }
  }

  /// Calls an asynchronous function with each of the inputs as they arrive, several at a time, and returns the results
  /// as a sequence.
  ///
  /// This works like the same method for a synchronous sequence. An error of the sequence of inputs is thrown after all
  /// earlier results have been returned.
  ///
  /// - Parameters:
  ///   - inputs: The values to call `transform` with.
  ///   - isInOrder: Whether the results are in input order. Otherwise, they are in order of completion.
  ///   - maxInFlightCount: The maximum number of inputs in progress. The default is the number of operations that the
  ///     queue runs at the same time, or 64 if the system decides.
  ///   - transform: The function to call.
  /// - Returns: The results, as they become available.
  /// - Precondition: `maxInFlightCount` is 1 or more.
  public func results<Inputs: AsyncSequence & Sendable, Output: Sendable>(
    of inputs: Inputs, inOrder isInOrder: Bool = true, maxInFlightCount: Int? = nil,
    _ transform: @escaping @Sendable (Inputs.Element) async throws -> Output
  ) -> OperationResults<Output> where Inputs.Element: Sendable {
    results(isInOrder, maxInFlightCount) { buffer, queue in
      for try await input in inputs {
        guard await buffer.takePlace(), try buffer.add({ TaskOperation { try await transform(input) } }, to: queue)
        else { break }
      }
    }
  }
}

extension OperationQueue {
  fileprivate final func results<Output: Sendable>(
    _ isInOrder: Bool, _ maxInFlightCount: Int?, _ addAll: @escaping ResultsBuffer.Driver
  ) -> OperationResults<Output> {
    require(
      maxInFlightCount ?? 1 > 0,
      "results(of:) of \(label) with maxInFlightCount \(maxInFlightCount ?? 0): use 1 or more.")
    return OperationResults(
      queue: self, isInOrder: isInOrder, maxInFlightCount: maxInFlightCount ?? width, addAll: addAll)
  }
}

/// The results of an asynchronous function for many inputs, as they become available; see
/// ``OperationQueueProtocol/results(of:inOrder:maxInFlightCount:_:)-(_,_,_,(Input)->Output)``.
public struct OperationResults<Output: Sendable>: AsyncSequence, Sendable {
  /// The type of one result.
  public typealias Element = Output
  /// The error of the function or of the sequence of inputs, or a `CancellationError`.
  public typealias Failure = any Error

  fileprivate let queue: OperationQueue
  fileprivate let isInOrder: Bool
  fileprivate let maxInFlightCount: Int
  /// Adds an operation for each input.
  fileprivate let addAll: ResultsBuffer.Driver

  /// Begins an iteration.
  ///
  /// It calls the function for the first time when its first result is requested.
  public func makeAsyncIterator() -> Iterator {
    Iterator(
      queue: queue, addAll: addAll,
      owner: ResultsOwner(ResultsBuffer(maxInFlightCount: maxInFlightCount, isInOrder: isInOrder)))
  }

  /// An iterator that returns the results one after the other.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let queue: OperationQueue
    fileprivate let addAll: ResultsBuffer.Driver
    fileprivate let owner: ResultsOwner

    fileprivate init(queue: OperationQueue, addAll: @escaping ResultsBuffer.Driver, owner: ResultsOwner) {
      (self.queue, self.addAll, self.owner) = (queue, addAll, owner)
    }

    /// Returns the next result, or nil at the end.
    ///
    /// - Returns: The next result, or nil after the last result.
    /// - Throws: The first error, once; `CancellationError` if the task, or an operation, was cancelled.
    public mutating func next() async throws -> Output? {
      let buffer = owner.buffer
      guard !buffer.isOver else { return nil }
      do {
        try Task.checkCancellation()
        buffer.begin(queue, addAll)
        guard let operation = try await buffer.next() else { return nil }
        return try await unsafeDowncast(operation, to: TaskOperation<Output>.self).value
      } catch {
        buffer.end()
        await buffer.cancelAll()
        throw error
      }
    }
  }
}
