import HeadwayCSV
import Testing

@Suite(.hangLimit) struct FlowTests {
  private struct Stop: Error {}

  private let input = Array("a,b\n\n1,2\n\"x\"y\n3,4".utf8)

  @Test("I3: a closure can stop after any record, and parsing continues after that record")
  func stopping() {
    var parser = CSVParser()
    var consumed: [Int] = []
    var records: [String] = []
    var start = 0
    input.withUnsafeBytes { bytes in
      while start < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
        let count = parser.parse(rest, isFinal: true) { record in
          records.append(record.fields.joined(separator: "|"))
          return .stop
        } malformed: { record in
          records.append("\(record.error.code)")
          return .stop
        }
        consumed.append(count)
        start += count
      }
    }
    #expect(records == ["a|b", "1|2", "text after a closing quote", "3|4"])
    #expect(consumed == [4, 5, 5, 3])
    #expect(parser.byteOffset == input.count)
    #expect(parser.recordCount == 4)
    #expect(parser.lineNumber == 5)
  }

  @Test("I3: an error of the closure is rethrown unchanged, and the record is consumed")
  func throwing() {
    var parser = CSVParser()
    input.withUnsafeBytes { bytes in
      do throws(Stop) {
        _ = try parser.parse(bytes, isFinal: true) {
          (_: borrowing CSVRecord) throws(Stop) -> CSVParser.IterationControl in
          .continue
        } malformed: { (_: borrowing CSVParser.MalformedRecord) throws(Stop) -> CSVParser.IterationControl in
          throw Stop()
        }
        Issue.record("Nothing was thrown")
      } catch {
        #expect(parser.byteOffset == 14)
      }
      let rest = UnsafeRawBufferPointer(rebasing: bytes[parser.byteOffset...])
      var fields: [[String]] = []
      let count = parser.parse(rest, isFinal: true) { record in
        fields.append(record.fields)
        return .continue
      } malformed: { _ in
        .continue
      }
      #expect(fields == [["3", "4"]])
      #expect(count == 3)
    }
  }

  @Test("I3: the fields of a record can be read in any order, together, and with a closure")
  func access() {
    var parser = CSVParser()
    var sums: [Int] = []
    Array("a,\"b\"\"c\",\"d\"\"\",e\n".utf8).withUnsafeBytes { bytes in
      _ = parser.parse(bytes, isFinal: false) { record in
        let second = record.unsafeBytes(at: 1)
        let third = record.unsafeBytes(at: 2)
        #expect(String(decoding: third, as: UTF8.self) == "d\"")
        #expect(String(decoding: second, as: UTF8.self) == "b\"c")
        #expect(record.fields == ["a", "b\"c", "d\"", "e"])
        sums.append(record.withUnsafeBytes(ofField: 3) { $0.count } + record.withUnsafeBytes(ofField: 1) { $0.count })
        return .continue
      } malformed: { _ in
        .continue
      }
    }
    #expect(sums == [4])
  }

  @Test("I3: a parser can be passed to another thread")
  func sending() async {
    let task = Task { [input] in
      var parser = CSVParser()
      return input.withUnsafeBytes { bytes in
        parser.parse(bytes, isFinal: true) { _ in
          .continue
        } malformed: { _ in
          .continue
        }
      }
    }
    #expect(await task.value == input.count)
  }
}
