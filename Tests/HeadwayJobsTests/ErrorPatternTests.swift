import HeadwayJobs
import Testing

@Suite struct ErrorPatternTests {
  @Test(
    "J337: parts of an error's text that can differ between equal errors become placeholders",
    arguments: [
      ("", ""),
      ("no such file", "no such file"),
      ("row 12 of 4,096 has 3.5 columns", "row # of # has # columns"),
      ("photo 123e4567-e89b-12d3-a456-426614174000 is missing", "photo # is missing"),
      ("job_123e4567-E89B-12d3-a456-426614174000 failed", "job_# failed"),
      ("at 0x7f3a00, commit 9c9a5d76, at 0X1F", "at #, commit #, at #"),
      ("deadbeef is a word, dead4beef is not", "deadbeef is a word, # is not"),
      ("customer cus_9s6XKzkNRiz8i3 has no card", "customer cus_# has no card"),
      ("01ARZ3NDEKTSV4RRFFQ69G5FAV expired", "# expired"),
      ("failed at 2026-11-30T14:03:05.123Z", "failed at #Z"),
      ("connect to 10.0.0.12:5432 timed out after 30s", "connect to # timed out after #s"),
      ("host8 answered 503", "host# answered #"),
      ("HTTP/1.1 503 from host 12", "HTTP/# 503 from host #"),
      ("Status code: 404, item 404, code 5", "Status code: 404, item #, code #"),
      ("mail to anna.smith-2@mail.example.com. Try again.", "mail to #. Try again."),
      ("the file “a.csv” or 'b.csv' or `c` or \"d e\" is missing", "the file “…” or '…' or `…` or \"…\" is missing"),
      (
        "the file \u{2018}a.csv\u{2019} or «b.csv» or „c“ is missing",
        "the file \u{2018}…\u{2019} or «…» or „…“ is missing"
      ),
      ("it can't be read, because it isn't open", "it can't be read, because it isn't open"),
      ("noSuchFile(path: \"/tmp/7\", code: 2)", "noSuchFile(path: \"…\", code: #)"),
      ("one\n\n  two\tthree ", "one two three"),
      ("an open \"quote", "an open \"quote"),
      ("Straße 5 – größer", "Straße # – größer"),
    ])
  func pattern(text: String, expected: String) {
    #expect(ErrorPattern.pattern(of: text) == expected)
  }

  @Test("J337: the text of a group has a limited length, and the type of a group has no addresses")
  func limits() {
    let long = String(repeating: "abc ", count: 10_000)
    #expect(ErrorPattern.pattern(of: long).utf8.count <= JobErrorGroup.maxTextLength)
    #expect(ErrorPattern.pattern(of: String(repeating: "\"7.a@", count: 1_000)).utf8.count <= 512)
    #expect(ErrorPattern.typeName("App.(unknown context at $7f3a0c).Failure") == "App.(unknown context at $).Failure")
    #expect(ErrorPattern.typeName("App.Failure") == "App.Failure")
  }

  @Test("J337: the ID of a group is 16 hexadecimal digits, also in JSON")
  func identifiers() {
    for number in [0, 1, -1, Int64.min, .max] {
      let id = JobErrorGroup.ID(rawValue: number)
      #expect(id.description.utf8.count == 16)
      #expect(JobErrorGroup.ID(id.description) == id)
    }
    for text in ["", "1", "+123456789abcdef", "-123456789abcdef", "123456789abcdefg", "00000000000000001"] {
      #expect(JobErrorGroup.ID(text) == nil, "\(text)")
    }
  }
}
