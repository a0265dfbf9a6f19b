/// Members that Headway's queues have in addition to Foundation's.
///
/// These members are in an extension of a protocol, so that a subclass can have members of the same names.
///
/// Every ``OperationQueue`` conforms to this protocol. You don't need to implement anything.
public protocol OperationQueueProtocol: OperationQueue {}

extension OperationQueue: OperationQueueProtocol {}
