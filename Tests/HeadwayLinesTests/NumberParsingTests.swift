import HeadwayTestKit
import Testing

@testable import HeadwayLines

@Suite("Lines: numbers", .hangLimit)
struct NumberParsingTests {
  @Test(
    "I3: 64-bit whole numbers are parsed",
    arguments: [
      ("0", 0), ("-0", 0), ("+7", 7), ("007", 7), ("  12 ", 12), ("-12", -12),
      ("9223372036854775807", .max), ("-9223372036854775808", .min), ("+9223372036854775807", .max),
      ("0000000000000000000000000000001", 1),
    ] as [(String, Int64)])
  func integers(text: String, number: Int64) {
    #expect(integer(text) == number)
  }

  @Test(
    "I3: text that is not a 64-bit whole number returns nil",
    arguments: [
      "", " ", "-", "+", "--1", "+-1", "1-", "1 2", "1.0", "1e3", "0x10", "1_000", "١", "9223372036854775808",
      "-9223372036854775809", "92233720368547758070", "99999999999999999999", "18446744073709551616", "1\0", "1a",
    ])
  func notIntegers(text: String) {
    #expect(integer(text) == nil)
  }

  @Test("I3: 5,000 random whole numbers of all magnitudes are parsed like `Int64` does")
  func randomIntegers() {
    var random = SeededGenerator(seed: 11)
    for _ in 0..<5_000 {
      let number = Int64(bitPattern: random.next()) >> Int64.random(in: 0..<64, using: &random)
      #expect(integer("\(number)") == number)
      // With one more digit, the number is often too large.
      let longer = "\(number)\(Int.random(in: 0..<10, using: &random))"
      #expect(integer(longer) == Int64(longer), "\(longer)")
    }
  }

  @Test("I3: 10,000 random decimal numbers are parsed exactly to the last bit")
  func randomReals() {
    var random = SeededGenerator(seed: 12)
    for _ in 0..<10_000 {
      let text = randomDecimal(&random)
      #expect(real(text)?.bitPattern == Double(text)?.bitPattern, "\(text)")
    }
  }

  private func randomDecimal(_ random: inout SeededGenerator) -> String {
    let digits = (0...Int.random(in: 0..<20, using: &random)).map { _ in String(Int.random(in: 0..<10, using: &random))
    }
    var text = digits.joined()
    if Int.random(in: 0..<4, using: &random) > 0 {
      let point = text.index(text.startIndex, offsetBy: 1 + Int.random(in: 0..<text.count, using: &random))
      if point < text.endIndex { text.insert(".", at: point) }
    }
    if Int.random(in: 0..<5, using: &random) == 0 { text += "e\(Int.random(in: 0..<60, using: &random) - 30)" }
    return ["", "-", "+"][Int.random(in: 0..<3, using: &random)] + text
  }

  @Test(
    "I3: decimal numbers at the limits of the fast path are parsed exactly",
    arguments: [
      "0", "-0", "0.0", "999999999999999", "9999999999999999", "0.00000000000001", "0.000000000000001",
      "123456789012345.0", "1.23456789012345", "1.234567890123456", "9007199254740993", "0.1", "0.3", "52.558684",
      "1e22", "1e23", "1E-7", "4.9e-324", "1.7976931348623157e308", "2.2250738585072011e-308",
      "000000000000000000000000000001.5",
    ])
  func edges(text: String) {
    #expect(real(text) != nil)
    #expect(real(text)?.bitPattern == Double(text)?.bitPattern)
  }

  @Test("I3: a decimal point can be at either end, and spaces around the number are ignored")
  func points() {
    #expect(real(".5") == 0.5)
    #expect(real("5.") == 5)
    #expect(real(" -.25 ") == -0.25)
  }

  @Test(
    "I3: hexadecimal numbers, names and incomplete numbers return nil",
    arguments: [
      "", "  ", ".", "-", "+.", "-.", "1..2", "1.2.3", "0x10", "0x1p3", "inf", "-inf", "infinity", "nan", "NaN", "1e",
      "1e+", "e5", "1e400", "-1e400", "1,5", "1 2", "--1", "+-1", "1f", "1\0", "12345678901234567x",
    ])
  func notReals(text: String) {
    #expect(real(text) == nil)
  }

  @Test("I3: a number of hundreds of digits is parsed exactly, and a longer one returns nil")
  func longReals() {
    let digits = String(repeating: "7", count: 300)
    #expect(real(digits) == Double(digits))
    #expect(real("0." + digits) == Double("0." + digits))
    // Beyond the supported length, the result is nil and not a different number.
    #expect(real("0." + String(repeating: digits, count: 4)) == nil)
  }

  private func integer(_ text: String) -> Int64? { Array(text.utf8).withUnsafeBytes { NumberParsing.integer($0) } }

  private func real(_ text: String) -> Double? { Array(text.utf8).withUnsafeBytes { NumberParsing.real($0) } }
}
