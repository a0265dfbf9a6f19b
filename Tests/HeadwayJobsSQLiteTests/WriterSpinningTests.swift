#if Jobs
import HeadwayTestSupport
import Testing

@testable import HeadwayJobsSQLite

/// When the writer of a store spins before it sleeps.
@Suite(.hangLimit) struct WriterSpinningTests {
  @Test("J304: the writer spins after a transaction with one request, and spins less often if that is in vain")
  func decision() {
    var spinning = WriterSpinning()
    #expect(spinning.mayBegin() == false)
    spinning.isAlone = true
    for skippedCount in [1, 3, 7, 15, 31, 63, 63] {
      #expect(spinning.mayBegin() == true)
      spinning.end(isInVain: true)
      for _ in 0..<skippedCount { #expect(spinning.mayBegin() == false) }
    }
    #expect(spinning.mayBegin() == true)
    spinning.end(isInVain: false)
    #expect(spinning.mayBegin() == true)
    spinning.isAlone = false
    #expect(spinning.mayBegin() == false)
  }
}
#endif
