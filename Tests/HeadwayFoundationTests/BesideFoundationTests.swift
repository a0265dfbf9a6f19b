import Foundation
import HeadwayFoundation
import Testing
import XCTest

/// This file imports modules that export Foundation's own classes, next to the module that replaces it.
@Suite("Next to Foundation and XCTest", .hangLimit) struct BesideFoundationTests {
  @Test("O1: next to imports of Foundation and XCTest, the names refer to Headway's classes") func names() {
    #expect(Operation.self == Headway.Operation.self)
    #expect(BlockOperation.self == Headway.BlockOperation.self)
    #expect(OperationQueue.self == Headway.OperationQueue.self)
    #expect(QualityOfService.self == Headway.QualityOfService.self)
    let queue: OperationQueue? = .main
    #expect(queue === Headway.OperationQueue.main)
    #expect(Foundation.OperationQueue.self != Headway.OperationQueue.self as AnyClass)
  }
}
