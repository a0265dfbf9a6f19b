/// The lines at the beginning of a file that start with `#`.
struct LeadingComments {
  struct Line {
    /// The physical line.
    let number: Int
    let bytes: [UInt8]
  }

  /// The comments, without empty lines between them.
  private(set) var lines: [Line] = []
  /// The first line after them.
  private(set) var nextLine: Int

  /// Finds the comments.
  ///
  /// - Parameters:
  ///   - text: The beginning of the file.
  ///   - count: The number of lines that precede the comments.
  ///   - endsLinesAtCarriageReturn: Whether a CR without LF ends a line.
  init(in text: UnsafeRawBufferPointer, behindLine count: Int, endsLinesAtCarriageReturn: Bool) {
    let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
    var rest = text[...]
    if rest.starts(with: FileContent.byteOrderMark) { rest = rest.dropFirst(FileContent.byteOrderMark.count) }
    var number = 1
    nextLine = count + 1
    while let end = rest.firstIndex(where: { $0 == lineFeed || (endsLinesAtCarriageReturn && $0 == carriageReturn) }) {
      let line = rest[..<end]
      let isPair = rest[end] == carriageReturn && rest[(end + 1)...].first == lineFeed
      rest = rest[(end + (isPair ? 2 : 1))...]
      defer { number += 1 }
      guard number > count, !line.isEmpty, line.first != carriageReturn else { continue }
      guard line.first == UInt8(ascii: "#") else { return }
      lines.append(Line(number: number, bytes: Array(line.last == carriageReturn ? line.dropLast() : line)))
      nextLine = number + 1
    }
    // A file that contains only comments is a table of one column.
    if rest.isEmpty || rest.first == UInt8(ascii: "#") { (lines, nextLine) = ([], count + 1) }
  }
}
