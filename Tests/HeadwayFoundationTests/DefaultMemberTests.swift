import HeadwayFoundation
import HeadwayTestKit
import Testing

private protocol ErrorHolder: AnyObject { var error: (any Error)? { get } }

extension ErrorHolder { var error: (any Error)? { CocoaError(.featureUnsupported) } }

private protocol Watching { func onCancel(_ handler: @escaping () -> Void) -> String }

extension Watching {
  func onCancel(_ handler: @escaping () -> Void) -> String { "the protocol's" }
  var outcome: String { "the protocol's" }
  func finished() -> String { "the protocol's" }
}

private class Holding: Operation, ErrorHolder, Watching, @unchecked Sendable {
  override func main() throws { throw CocoaError(.fileNoSuchFile) }
}

/// Subclasses that adopt protocols with default members that have the same names as Headway's.
@Suite("Default members of protocols", .hangLimit) struct DefaultMemberTests {
  @Test("O1: a default member of a protocol hides Headway's member of the same name") func hides() {
    let operation = Holding()
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect((operation.error as? CocoaError)?.code == .featureUnsupported)
    #expect(((operation as any ErrorHolder).error as? CocoaError)?.code == .featureUnsupported)
    #expect(((operation as Operation).error as? CocoaError)?.code == .fileNoSuchFile)
    #expect(operation.onCancel {} == "the protocol's" && operation.outcome == "the protocol's")
    #expect(operation.finished() == "the protocol's")
  }

  @Test("B5: the error property of an operation has the type (any Error)?") func error() {
    let operation = BlockOperation {}
    operation.recordError(CocoaError(.fileNoSuchFile))
    let other: any Error = CocoaError(.featureUnsupported)
    operation.recordError(other)
    let error: (any Error)? = operation.error
    #expect((error as? CocoaError)?.code == .fileNoSuchFile)
    let path: KeyPath<Operation, (any Error)?> = \.error
    #expect(operation[keyPath: path] is CocoaError && BlockOperation {}.error == nil)
  }
}
