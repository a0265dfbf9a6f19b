import Foundation
import HeadwayTestKit
import Testing

@testable import HeadwayCSV

@Suite("CSV: JSON objects of JSON Lines", .hangLimit)
struct JSONScannerTests {
  /// The members of an object as their names and the text of their values; nil if it is not an object.
  private func members(_ text: [UInt8]) -> [(name: String, kind: JSONScanner.Kind, value: String)]? {
    text.withUnsafeBytes { bytes in
      var scanner = JSONScanner(bytes)
      var found: [(String, JSONScanner.Kind, String)] = []
      do {
        try scanner.object { member throws(JSONScanner.Failure) in
          found.append(
            (
              JSONText.string(
                UnsafeRawBufferPointer(rebasing: bytes[member.name]), hasEscapes: member.nameHasEscapes),
              member.kind,
              JSONText.string(
                UnsafeRawBufferPointer(rebasing: bytes[member.value]), hasEscapes: member.valueHasEscapes)
            ))
        }
      } catch { return nil }
      return found
    }
  }

  private func members(_ text: String) -> [(name: String, kind: JSONScanner.Kind, value: String)]? {
    members(Array(text.utf8))
  }

  @Test("I7: the text of numbers and nested values is kept, and strings lose their escapes") func values() throws {
    let found = try #require(
      members(##" { "a" : 1.10, "b":-0e+5 ,"c":"x\"\\\/\b\f\n\r\té😀","d":[1, {"e":"]"}],"f":true,"":null}"##))
    #expect(found.map(\.name) == ["a", "b", "c", "d", "f", ""])
    #expect(found.map(\.kind) == [.number, .number, .string, .nested, .true, .null])
    #expect(
      found.map(\.value) == [
        "1.10", "-0e+5", "x\"\\/\u{8}\u{C}\n\r\té😀", "[1, {\"e\":\"]\"}]", "true", "null",
      ])
  }

  @Test(
    "I7: text that is not a single JSON object is rejected",
    arguments: [
      "", "1", "[]", "[{}]", "{", "{}}", "{} {}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}", "{a:1}", "{'a':1}",
      "{\"a\":01}", "{\"a\":1.}", "{\"a\":.5}", "{\"a\":+1}", "{\"a\":1e}", "{\"a\":NaN}", "{\"a\":tru}", "{\"a\":\"x}",
      "{\"a\":\"\\x\"}", "{\"a\":\"\\u12\"}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\\udc00\"}",
      "{\"a\":\"\\ud800\\u0041\"}",
      "{\"a\":\"\t\"}", "{\"a\":[1,]}", "{\"a\":[1 2]}", "{\"a\":{\"b\"}}", "{\"a\":1} x",
    ])
  func refused(text: String) {
    #expect(members(text) == nil)
  }

  @Test("I7: an object that is nested too deeply is rejected") func depth() {
    func nested(_ depth: Int) -> String {
      "{\"a\":\(String(repeating: "[", count: depth))\(String(repeating: "]", count: depth))}"
    }
    #expect(members(nested(500)) != nil)
    #expect(members(nested(1_000)) == nil)
    #expect(members(nested(1_000_000)) == nil)
  }

  @Test("I7: Headway and Foundation accept the same random strings that resemble JSON") func differential() {
    var random = SeededGenerator(seed: 20_261_125)
    let pieces = [
      "{", "}", "[", "]", ",", ":", "\"a\"", "\"b\\n\"", "\"\\u00e9\"", "\"", "\\", "1", "-2.5e3", "0", "true", "null",
      "\\ud83d\\ude00", "é",
    ]
    var taken = 0
    for _ in 0..<5_000 {
      // Usually objects with some pieces exchanged.
      var parts = ["{", "\"a\"", ":", "1", ",", "\"b\"", ":", "[", "2", ",", "\"c\"", "]", "}"]
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        parts[Int.random(in: parts.indices, using: &random)] = pieces.randomElement(using: &random) ?? ""
      }
      let text = parts.joined()
      // Foundation accepts some of these, although RFC 8259 does not.
      guard !text.contains(",]") else { continue }
      let foundation = (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any]
      let own = members(text)
      if own != nil { taken += 1 }
      #expect((own != nil) == (foundation != nil), "\(text)")
      guard let own, let foundation else { continue }
      #expect(Set(own.map(\.name)) == Set(foundation.keys), "\(text)")
      for member in own where member.kind == .string && own.count(where: { $0.name == member.name }) == 1 {
        #expect(foundation[member.name] as? String == member.value, "\(text)")
      }
    }
    #expect(taken > 500)
  }
}
