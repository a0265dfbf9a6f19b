#if canImport(Glibc)
import Glibc

/// The bytes that `malloc` has allocated and that were not freed, in all arenas and mappings: `uordblks + hblkhd` of
/// `mallinfo2`.
///
/// Swift's Glibc module does not have that function. Its result is ten words, returned in memory that the caller
/// provides. `rusage` is a larger C type that begins with as many words, so it can represent the result. It has hblkhd
/// where `mallinfo2` has its fifth word, and uordblks where the eighth is.
public func heapBytes() -> Int {
  typealias Function = @convention(c) () -> rusage
  guard let address = dlsym(nil, "mallinfo2") else { fatalError("No mallinfo2: glibc 2.33 or later is needed.") }
  let words = unsafeBitCast(address, to: Function.self)()
  return words.ru_isrss + words.ru_maxrss
}

/// Whether `malloc` is the C library's.
public var isHeapMeasurable: Bool { dlsym(nil, "__tsan_init") == nil }

/// The largest growth of the heap since the previous measurement.
public struct HeapGrowth {
  private let start = heapBytes()
  /// By how many bytes the heap was larger, at most, when it was measured.
  public private(set) var largest = 0

  /// Begins with the heap as it is.
  public init() {}

  /// Measures the heap.
  public mutating func sample() { largest = max(largest, heapBytes() - start) }
}
#endif
