import Testing

import class HeadwayFoundation.BlockOperation
import class HeadwayFoundation.Operation
import class HeadwayFoundation.OperationQueue
import enum HeadwayFoundation.QualityOfService

/// This file imports the names individually.
@Suite("Names imported one by one", .hangLimit) struct ScopedImportTests {
  @Test("O1: names that are imported separately, or qualified by the module, mean Headway's classes")
  func names() {
    #expect("\(String(reflecting: Operation.self))" == "Headway.Operation")
    #expect("\(String(reflecting: BlockOperation.self))" == "Headway.BlockOperation")
    #expect("\(String(reflecting: OperationQueue.self))" == "Headway.OperationQueue")
    #expect("\(String(reflecting: QualityOfService.self))" == "Headway.QualityOfService")
    #expect(HeadwayFoundation.Operation.self == Operation.self)
  }
}
