/// What Headway's queues have beyond Foundation's.
///
/// These members are in an extension of a protocol so that a subclass may have members of the same names.
///
/// Every ``OperationQueue`` conforms; there is nothing to implement.
public protocol OperationQueueExtensions: OperationQueue {}

extension OperationQueue: OperationQueueExtensions {}
