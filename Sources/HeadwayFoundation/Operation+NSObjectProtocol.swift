public import Foundation
public import Headway

// Foundation's classes inherit these members from NSObject. With them, operations and queues can be delegates. Where
// Objective-C is available, only Objective-C objects can conform.

#if !canImport(ObjectiveC)
extension Headway.Operation: NSObjectProtocol {}

extension Headway.OperationQueue: NSObjectProtocol {}

extension NSObjectProtocol where Self: Headway.Operation {
  /// Returns the operation.
  ///
  /// - Returns: Always this operation.
  public func `self`() -> Self { self }

  /// Returns whether the object is a proxy for another object; always false.
  ///
  /// - Returns: Always false.
  public func isProxy() -> Bool { false }

  /// Returns whether the operation is an instance of a class or of one of its subclasses.
  ///
  /// - Parameter class: The class to compare with.
  /// - Returns: True if the class is the operation's class or a superclass.
  public func isKind(of class: AnyClass) -> Bool { HeadwayFoundation.isKind(type(of: self), of: `class`) }

  /// Returns whether the operation is an instance of a class, but not of one of its subclasses.
  ///
  /// - Parameter class: The class to compare with.
  /// - Returns: True if the class is exactly the operation's class.
  public func isMember(of class: AnyClass) -> Bool { type(of: self) == `class` }
}

extension NSObjectProtocol where Self: Headway.OperationQueue {
  /// Returns the queue.
  ///
  /// - Returns: Always this queue.
  public func `self`() -> Self { self }

  /// Returns whether the object is a proxy for another object; always false.
  ///
  /// - Returns: Always false.
  public func isProxy() -> Bool { false }

  /// Returns whether the queue is an instance of a class or of one of its subclasses.
  ///
  /// - Parameter class: The class to compare with.
  /// - Returns: True if the class is the queue's class or a superclass.
  public func isKind(of class: AnyClass) -> Bool { HeadwayFoundation.isKind(type(of: self), of: `class`) }

  /// Returns whether the queue is an instance of a class, but not of one of its subclasses.
  ///
  /// - Parameter class: The class to compare with.
  /// - Returns: True if the class is exactly the queue's class.
  public func isMember(of class: AnyClass) -> Bool { type(of: self) == `class` }
}

extension Headway.OperationQueue: ProgressReporting {}

extension ProgressReporting where Self: Headway.OperationQueue {
  /// A new Foundation progress for each read, which shows the progress of the queue.
  ///
  /// If both types fit, the compiler prefers the queue's own `OperationProgress`, whose `totalUnitCount` you set. This
  /// one is updated on the main dispatch queue, so use it only there.
  public var progress: Progress {
    let own: OperationProgress = progress
    return own.makeFoundationProgress()
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
