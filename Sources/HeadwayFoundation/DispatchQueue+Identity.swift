#if !canImport(ObjectiveC)
public import Dispatch
import Headway

// On Apple platforms, each dispatch queue is a single object, and `==` compares objects. On Linux, each read of
// `DispatchQueue.main` creates another object.

/// Returns whether two dispatch queues are the same: the same object, or both the main queue.
///
/// - Parameters:
///   - left: A dispatch queue, for example the `underlyingQueue` of an operation queue.
///   - right: Another dispatch queue.
/// - Returns: True if they are the same.
public func === (left: DispatchQueue?, right: DispatchQueue?) -> Bool {
  switch (left, right) {
  case (nil, nil): true
  case (let left?, let right?):
    ObjectIdentifier(left) == ObjectIdentifier(right)
      || (MainDispatchQueue.isSame(as: left) && MainDispatchQueue.isSame(as: right))
  default: false
  }
}

/// Returns whether two dispatch queues are different.
///
/// - Parameters:
///   - left: A dispatch queue, or nil.
///   - right: Another dispatch queue.
/// - Returns: True if they are different.
public func !== (left: DispatchQueue?, right: DispatchQueue?) -> Bool { !(left === right) }

/// Returns whether two dispatch queues are the same.
///
/// On Apple platforms, dispatch queues are equatable.
///
/// - Parameters:
///   - left: A dispatch queue, for example the `underlyingQueue` of an operation queue.
///   - right: Another dispatch queue.
/// - Returns: True if they are the same.
public func == (left: DispatchQueue?, right: DispatchQueue?) -> Bool { left === right }

/// Returns whether two dispatch queues are different.
///
/// - Parameters:
///   - left: A dispatch queue, or nil.
///   - right: Another dispatch queue.
/// - Returns: True if they are different.
public func != (left: DispatchQueue?, right: DispatchQueue?) -> Bool { !(left === right) }
#endif
