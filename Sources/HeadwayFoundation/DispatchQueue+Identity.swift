#if !canImport(ObjectiveC)
public import Dispatch
import Headway

// On Apple platforms, one dispatch queue is one object, and `==` compares objects. On Linux each reading of
// `DispatchQueue.main` makes another one.

/// Whether two dispatch queues are the same: the same object, or both the main queue.
///
/// - Parameters:
///   - left: A queue, for instance the `underlyingQueue` of an operation queue.
///   - right: Another.
/// - Returns: Whether they are the same.
public func === (left: DispatchQueue?, right: DispatchQueue?) -> Bool {
  switch (left, right) {
  case (nil, nil): true
  case (let left?, let right?):
    ObjectIdentifier(left) == ObjectIdentifier(right)
      || (MainDispatchQueue.isSame(as: left) && MainDispatchQueue.isSame(as: right))
  default: false
  }
}

/// Whether two dispatch queues are different.
///
/// - Parameters:
///   - left: A queue.
///   - right: Another.
/// - Returns: Whether they are different.
public func !== (left: DispatchQueue?, right: DispatchQueue?) -> Bool { !(left === right) }

/// Whether two dispatch queues are the same, as on Apple platforms, where they are equatable.
///
/// - Parameters:
///   - left: A queue, for instance the `underlyingQueue` of an operation queue.
///   - right: Another.
/// - Returns: Whether they are the same.
public func == (left: DispatchQueue?, right: DispatchQueue?) -> Bool { left === right }

/// Whether two dispatch queues are different.
///
/// - Parameters:
///   - left: A queue.
///   - right: Another.
/// - Returns: Whether they are different.
public func != (left: DispatchQueue?, right: DispatchQueue?) -> Bool { !(left === right) }
#endif
