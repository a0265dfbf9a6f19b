/// The references from an operation to its queue, and to its neighbors in the queue's lists.
///
/// Protected by the queue's lock, except `home`.
///
/// The references do not own operations. The queue owns every operation in its lists, so a referenced operation is
/// alive.
struct QueueLinks {
  /// The queue.
  ///
  /// It is set before the operation is enqueued, and never changed afterwards.
  var home: Unmanaged<OperationQueue>?
  /// The number that the queue assigned to the operation when it accepted it, in insertion order.
  var sequence: UInt64 = 0

  // The neighbors in the list of all members of the queue, in insertion order.
  var memberNext: OperationReference?
  var memberPrevious: OperationReference?

  // The neighbors in the list or heap that the operation waits in, or in the list of running operations. In a list: the
  // next and the previous operation. In a heap: the next sibling; the previous sibling, or the parent of a first child;
  // and the first child.
  var next: OperationReference?
  var previous: OperationReference?
  var child: OperationReference?
}
