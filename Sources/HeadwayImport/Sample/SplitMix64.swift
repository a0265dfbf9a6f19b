/// A small generator of pseudo-random numbers whose results are the same on every platform and in every release.
///
/// The algorithm is Steele, Lea and Flood's SplitMix64; its constants are theirs. The standard library's generators are
/// not used because neither `SystemRandomNumberGenerator` nor the way in which `Int.random(in:using:)` consumes numbers
/// is meant to be reproducible.
struct SplitMix64 {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  /// The generator of one thing among many, for instance of the seventh trip.
  ///
  /// What is drawn for one thing then depends on nothing drawn before, so it can be drawn again wherever it is needed
  /// and need not be kept.
  init(seed: UInt64, purpose: Purpose, index: Int) {
    var outer = SplitMix64(seed: seed ^ (purpose.rawValue &* 0xD6E8_FEB8_6659_FD93))
    state = outer.next() ^ (UInt64(truncatingIfNeeded: index) &* 0xA076_1D64_78BD_642F)
  }

  /// What numbers are drawn for.
  enum Purpose: UInt64 {
    case name = 1, town, place, route, trip, shape, service
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number from 0 up to, and without, `bound`.
  ///
  /// The high half of a product maps the range without a division. The bias, below 2⁻⁴⁰ for the bounds used here, does
  /// not matter in sample data.
  mutating func below(_ bound: Int) -> Int {
    precondition(bound > 0)
    return Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  /// One of the elements.
  mutating func element<Element>(of elements: [Element]) -> Element {
    elements[below(elements.count)]
  }
}
