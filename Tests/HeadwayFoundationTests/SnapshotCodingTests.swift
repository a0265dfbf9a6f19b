import Foundation
import Headway
import HeadwayFoundation
import HeadwayTestSupport
import Testing

@Suite("Coding of snapshots", HangLimit()) struct SnapshotCodingTests {
  @Test("Q18: a snapshot survives encoding and decoding") func roundTrip() throws {
    let queue = OperationQueue()
    queue.name = "coding"
    queue.isSuspended = true
    queue.addOperation {}
    let snapshot = OperationQueue.snapshotAll()
    let data = try JSONEncoder().encode(snapshot)
    #expect(try JSONDecoder().decode(ProcessSnapshot.self, from: data) == snapshot)
    let text = String(decoding: try JSONEncoder().encode(queue.snapshot()), as: UTF8.self)
    #expect(text.contains(#""name":"coding""#) && text.contains(#""state":"ready""#))
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }
}
