public import Foundation
public import Headway

// What Foundation's classes have from NSObject, so that operations and queues can be delegates. Where Objective-C is,
// only its own objects can conform.

#if !canImport(ObjectiveC)
extension Headway.Operation: NSObjectProtocol {}

extension Headway.OperationQueue: NSObjectProtocol {}

extension NSObjectProtocol where Self: Headway.Operation {
  /// The operation.
  ///
  /// - Returns: The operation.
  public func `self`() -> Self { self }

  /// Whether the object stands for another one; it never does.
  ///
  /// - Returns: False.
  public func isProxy() -> Bool { false }

  /// Whether the operation is of a class or of a subclass of it.
  ///
  /// - Parameter class: The class.
  /// - Returns: Whether it is.
  public func isKind(of class: AnyClass) -> Bool { HeadwayFoundation.isKind(type(of: self), of: `class`) }

  /// Whether the operation is of a class, and of no subclass of it.
  ///
  /// - Parameter class: The class.
  /// - Returns: Whether it is.
  public func isMember(of class: AnyClass) -> Bool { type(of: self) == `class` }
}

extension NSObjectProtocol where Self: Headway.OperationQueue {
  /// The queue.
  ///
  /// - Returns: The queue.
  public func `self`() -> Self { self }

  /// Whether the object stands for another one; it never does.
  ///
  /// - Returns: False.
  public func isProxy() -> Bool { false }

  /// Whether the queue is of a class or of a subclass of it.
  ///
  /// - Parameter class: The class.
  /// - Returns: Whether it is.
  public func isKind(of class: AnyClass) -> Bool { HeadwayFoundation.isKind(type(of: self), of: `class`) }

  /// Whether the queue is of a class, and of no subclass of it.
  ///
  /// - Parameter class: The class.
  /// - Returns: Whether it is.
  public func isMember(of class: AnyClass) -> Bool { type(of: self) == `class` }
}

extension Headway.OperationQueue: ProgressReporting {}

extension ProgressReporting where Self: Headway.OperationQueue {
  /// A Foundation progress that shows that of the queue, made anew each time.
  ///
  /// Where both types fit, the queue's own is preferred, on which `totalUnitCount` is set. This one is updated on the
  /// main dispatch queue, and is to be used there.
  public var progress: Progress {
    let own: OperationProgress = progress
    return own.foundationProgress()
  }
}

private func isKind(_ type: AnyClass, of other: AnyClass) -> Bool {
  var type: AnyClass? = type
  while let current = type {
    if current == other { return true }
    type = _getSuperclass(current)
  }
  return false
}
#endif
