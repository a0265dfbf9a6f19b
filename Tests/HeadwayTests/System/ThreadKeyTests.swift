import Synchronization
import Testing

@testable import Headway

/// Values of threads are passed to the function of their key when the thread ends.
@Suite("Thread-specific values", .hangLimit) struct ThreadKeyTests {
  private static let ended = Atomic<UInt>(0)
  private static let other = ThreadKey(atThreadEnd: { value in
    ended.wrappingAdd(UInt(bitPattern: value), ordering: .relaxed)
  })
  /// Its function sets a value of a key that may be done.
  private static let key = ThreadKey(atThreadEnd: { value in
    ended.wrappingAdd(UInt(bitPattern: value), ordering: .relaxed)
    other.value = UnsafeMutableRawPointer(bitPattern: 1_000)
  })
  private static let withoutEnd = ThreadKey()

  @Test("O8: each thread has its own values, and what it leaves is freed when it ends") func ends() {
    let wereOwn = Atomic(true)
    onThreads(3) { number in
      let (other, key) = (Self.other, Self.key)
      if other.value != nil || key.value != nil { wereOwn.store(false, ordering: .relaxed) }
      key.value = UnsafeMutableRawPointer(bitPattern: number + 1)
      Self.withoutEnd.value = UnsafeMutableRawPointer(bitPattern: 5)
      other.value = UnsafeMutableRawPointer(bitPattern: 7)
      other.value = nil
      if key.value != UnsafeMutableRawPointer(bitPattern: number + 1) || other.value != nil {
        wereOwn.store(false, ordering: .relaxed)
      }
    }
    #expect(wereOwn.load(ordering: .relaxed) && Self.key.value == nil)
    #expect(Self.ended.load(ordering: .relaxed) == 1 + 2 + 3 + 3 * 1_000)
  }
}
