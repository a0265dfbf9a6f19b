/// Members that Headway's queues have in addition to Foundation's.
///
/// These members are in an extension of a protocol, so that a subclass can have members of the same names.
///
/// Every ``OperationQueue`` conforms. There is nothing to implement.
public protocol OperationQueueProtocol: OperationQueue {}

extension OperationQueue: OperationQueueProtocol {}
