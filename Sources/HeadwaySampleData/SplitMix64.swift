import Headway

/// A small generator of pseudo-random numbers whose results are the same on every platform and in every release.
///
/// The algorithm is SplitMix64 by Steele, Lea and Flood, with their constants. The standard library's generators are
/// not used because neither `SystemRandomNumberGenerator` nor the way that `Int.random(in:using:)` consumes numbers is
/// meant to be reproducible.
struct SplitMix64 {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  /// Creates the generator for one item among many, for example for the seventh trip.
  ///
  /// The numbers for an item do not depend on any that were generated before. They can be generated again where they
  /// are needed, and need not be stored.
  init(seed: UInt64, purpose: Purpose, index: Int) {
    var outer = SplitMix64(seed: seed ^ (purpose.rawValue &* 0xD6E8_FEB8_6659_FD93))
    state = outer.next() ^ (UInt64(truncatingIfNeeded: index) &* 0xA076_1D64_78BD_642F)
  }

  /// The purposes that numbers are generated for.
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

  /// A number from 0 up to, but not including, `bound`.
  ///
  /// The high half of a product maps the range without a division. The bias, below 2⁻⁴⁰ for the bounds used here, does
  /// not matter in sample data.
  mutating func below(_ bound: Int) -> Int {
    require(bound > 0, "A random number below \(bound) was requested: use 1 or more.")
    return Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  /// A random element.
  mutating func element<Element>(of elements: [Element]) -> Element {
    elements[below(elements.count)]
  }
}
