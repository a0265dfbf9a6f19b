import Foundation

@testable import HeadwayImport
@testable import HeadwaySampleData

/// A damaged file that is generated from a clean table, so that its intended rows are known.
///
/// The classes are from “Pollock: A Data Loading Benchmark” (Vitagliano et al., VLDB 2023), with some additions.
struct PollutedFile {
  let name: String
  let bytes: [UInt8]
  /// The rows whose original content a reader can determine, with an empty text for no value.
  let expected: [[String]]

  init(_ name: String, _ bytes: [UInt8], _ expected: [[String]]) {
    (self.name, self.bytes, self.expected) = (name, bytes, expected)
  }

  init(_ name: String, _ text: String, _ expected: [[String]]) { self.init(name, Array(text.utf8), expected) }
}

/// A table of the usual kinds of values, and the way it is written.
struct CleanTable {
  static let header = [
    "Date", "Time", "Qty", "PRODUCTID", "Price", "ProductType", "ProductDescription", "URL", "Comments",
  ]

  let rows: [[String]]

  init(rows count: Int, seed: UInt64) {
    var random = SplitMix64(seed: seed)
    rows = (0..<count).map { number in
      let description = ["Cable, 2 m", "Lamp \"Sun\"", "Desk", "Cable;red", "It's a chair", "Ruler, 12\" long"]
      return [
        "0\(1 + random.below(9))/1\(random.below(10))/2014", "1\(random.below(10)):\(10 + random.below(50))",
        "\(1 + random.below(9))", "70\(100 + number)", "\(1 + random.below(99)).\(10 + random.below(90))",
        ["Office", "Home", "Garden"][random.below(3)], description[random.below(description.count)],
        "http://www.example.com/p?id=\(number)", random.below(4) == 0 ? "on sale" : "",
      ]
    }
  }

  /// How a table is written; strings, and fields that need quotes, have quotes.
  struct Form {
    var delimiter = ","
    var quote = "\""
    /// The text that escapes a quote in a field.
    var escape: String?
    var lineEnding = "\r\n"

    func line(_ fields: [String]) -> String { fields.map(field).joined(separator: delimiter) + lineEnding }

    func field(_ text: String) -> String {
      let special = [delimiter, quote, "\n", "\r"].contains { text.contains($0) } || text.contains(" ")
      guard special || text.hasPrefix("\"") || text.hasPrefix("'") else { return text }
      return quote + text.replacing(quote, with: (escape ?? quote) + quote) + quote
    }
  }

  func text(_ form: Form = Form(), header: [[String]] = [CleanTable.header]) -> String {
    (header + rows).map(form.line).joined()
  }

  // MARK: Structure

  /// One file of each class of pollution that affects the file as a whole.
  var pollutedFiles: [PollutedFile] {
    let (text, header) = (text(), Self.header)
    func lines(_ count: Int) -> String { rows.prefix(count).map(Form().line).joined() }
    var files = [
      PollutedFile("clean", text, rows), PollutedFile("no-line-end", String(text.dropLast()), rows),
      PollutedFile("two-line-ends", text + "\r\n", rows), PollutedFile("no-header", lines(rows.count), rows),
      PollutedFile("header-only", Form().line(header), []),
      PollutedFile("one-row", Form().line(header) + lines(1), Array(rows.prefix(1))),
      PollutedFile("mark", "\u{FEFF}" + text, rows), PollutedFile("separator-line", "sep=,\r\n" + text, rows),
      PollutedFile("preamble-1", "Sales of the year\r\n" + text, rows),
      PollutedFile("preamble-2", "Sales of the year\r\nby \"us\", with care\r\n\r\n" + text, rows),
      PollutedFile("title", "Sales" + String(repeating: ",", count: header.count - 1) + "\r\n" + text, rows),
      PollutedFile("comments", "# made by a program\r\n# on 2014-01-01, at noon\r\n" + text, rows),
      PollutedFile("trailer", text + "84 rows\r\n", rows),
      PollutedFile("header-twice", text + text, rows),
      PollutedFile(
        "name-twice", self.text(header: [header.map { $0 == "Time" ? "Date" : $0 }]), rows),
      // The header might have lost a delimiter, so the empty field is kept.
      PollutedFile("delimiter-behind-rows", self.text(behindRows: ",", behindHeader: ""), rows.map { $0 + [""] }),
      PollutedFile("delimiter-behind-header", self.text(behindRows: "", behindHeader: ","), rows),
      PollutedFile("narrower-table-behind", text + "\r\nProduct,Count\r\nLamp,3\r\n", rows),
      PollutedFile("utf-16", [0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }, rows),
    ]
    let units = ["", "h", "", "", "EUR", "", "", "", ""]
    let kinds = ["day", "hour", "pieces", "number", "amount", "text", "text", "text", "text"]
    files.append(PollutedFile("header-of-2", self.text(header: [header, kinds]), rows))
    files.append(PollutedFile("header-of-3", self.text(header: [header, kinds, units]), rows))
    for (name, delimiter) in [("semicolon", ";"), ("tab", "\t"), ("bar", "|"), ("comma-space", ", "), ("space", " ")] {
      files.append(PollutedFile("delimiter-\(name)", self.text(Form(delimiter: delimiter)), rows))
    }
    files.append(PollutedFile("quote-apostrophe", self.text(Form(quote: "'")), rows))
    files.append(PollutedFile("escape-backslash", self.text(Form(escape: "\\")), rows))
    for (name, lineEnding) in [("lf", "\n"), ("cr", "\r")] {
      files.append(PollutedFile("line-end-\(name)", self.text(Form(lineEnding: lineEnding)), rows))
    }
    return files
  }

  private func text(behindRows: String, behindHeader: String) -> String {
    let form = Form(lineEnding: "")
    return form.line(Self.header) + behindHeader + "\r\n"
      + rows.map { form.line($0) + behindRows + "\r\n" }.joined()
  }

  // MARK: Rows

  /// Files with pollution in one cell of one record, the header or a row.
  ///
  /// - Parameter records: The records; record 0 is the header.
  /// - Returns: The files, one per kind of pollution.
  func files(pollutingRecords records: some Sequence<Int>) -> [PollutedFile] {
    let all = [Self.header] + rows
    return records.flatMap { record in
      (0..<Self.header.count).flatMap { column -> [PollutedFile] in
        let form = Form()
        let fields = all[record].map(form.field)
        // The original record can no longer be determined, unless it was the header.
        let expected = rows.enumerated().filter { $0.offset != record - 1 }.map(\.element)
        func file(_ name: String, _ line: String) -> PollutedFile {
          var lines = all.map(form.line)
          lines[record] = line + form.lineEnding
          return PollutedFile("\(name)-\(record)-\(column)", lines.joined(), expected)
        }
        func joined(_ fields: [String]) -> String { fields.joined(separator: ",") }
        var files = [
          file("more", joined(Array(fields[...column] + ["surplus"] + fields[(column + 1)...]))),
          file("quote", joined(fields.enumerated().map { $0 == column ? "\"\($1)" : $1 })),
          file("inner-quote", joined(fields.enumerated().map { $0 == column ? "\"\($1.prefix(2))\"\($1)x" : $1 })),
        ]
        if column > 0 {
          files.append(
            file(
              "less",
              joined(Array(fields[..<(column - 1)] + [fields[column - 1] + fields[column]] + fields[(column + 1)...]))))
        } else {
          files.append(file("other-delimiter", fields.joined(separator: ";")))
        }
        return files
      }
    }
  }
}
