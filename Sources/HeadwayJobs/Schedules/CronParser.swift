/// A field of a cron expression.
enum CronField: CaseIterable {
  case minute, hour, day, month, weekday

  var range: ClosedRange<Int> {
    switch self {
    case .minute: 0...59
    case .hour: 0...23
    case .day: 1...31
    case .month: 1...12
    case .weekday: 0...6
    }
  }

  /// All values, as bits.
  var all: UInt64 { range.reduce(0) { $0 | (1 << UInt64($1)) } }

  /// The greatest number that can be written; Sunday has two numbers.
  var greatest: Int { self == .weekday ? 7 : range.upperBound }

  var title: String {
    switch self {
    case .minute: "minute"
    case .hour: "hour"
    case .day: "day of the month"
    case .month: "month"
    case .weekday: "weekday"
    }
  }

  /// The names of the values, from the first one.
  var names: [String] {
    switch self {
    case .month: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    case .weekday: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
    default: []
    }
  }
}

/// Reads a cron expression from left to right.
struct CronParser {
  /// The values of a field.
  struct Values {
    /// The values, as bits.
    var bits: UInt64 = 0
    /// Whether the field begins with `*`.
    var beginsWithStar = false
  }

  private let text: String
  private let characters: [Character]
  /// The ranges of the fields.
  private let fields: [Range<Int>]
  /// The position of the next character, and the end of the field.
  private var (position, end) = (0, 0)

  private static let macros = [
    "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
  ]

  init(_ text: String) {
    self.text = text
    characters = Array(text.lowercased())
    fields = characters.indices.split { [characters = characters] in characters[$0] == " " || characters[$0] == "\t" }
  }

  /// The text in lowercase, without superfluous spaces.
  var normalized: String { fields.map { String(characters[$0]) }.joined(separator: " ") }

  /// Reads all fields.
  mutating func parse() throws(CronSyntaxError) -> [Values] {
    if let first = fields.first, characters[first.lowerBound] == "@" { return try parseMacro(first) }
    guard fields.count >= 5 else {
      throw error(
        at: characters.count,
        "Five fields are needed (minute, hour, day of the month, month, weekday), but there are \(fields.count).")
    }
    guard fields.count == 5 else {
      throw error(
        at: fields[5].lowerBound,
        "There are more than five fields. There is no field for seconds; use a schedule with every(_:) instead.")
    }
    var values: [Values] = []
    for (field, range) in zip(CronField.allCases, fields) { values.append(try parse(field, range)) }
    let (days, months, weekdays) = (values[2], values[3], values[4])
    guard !weekdays.beginsWithStar || Self.isPossible(days.bits, in: months.bits) else {
      throw error(at: fields[2].lowerBound, "None of these months has such a day.")
    }
    return values
  }

  private func parseMacro(_ range: Range<Int>) throws(CronSyntaxError) -> [Values] {
    let name = String(characters[range])
    guard let expansion = Self.macros[name] else {
      let known = Self.macros.keys.sorted().joined(separator: ", ")
      throw error(at: range.lowerBound, "\(name) is not one of \(known).")
    }
    guard fields.count == 1 else { throw error(at: fields[1].lowerBound, "Nothing can follow \(name).") }
    var parser = CronParser(expansion)
    return try parser.parse()
  }

  private static func isPossible(_ days: UInt64, in months: UInt64) -> Bool {
    let lengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return zip(1..., lengths).contains { months.contains($0) && days.trailingZeroBitCount <= $1 }
  }

  // MARK: Fields

  private mutating func parse(_ field: CronField, _ range: Range<Int>) throws(CronSyntaxError) -> Values {
    (position, end) = (range.lowerBound, range.upperBound)
    var values = Values()
    values.beginsWithStar = characters[position] == "*"
    repeat { values.bits |= try part(of: field) } while take(",")
    guard position == end else { throw error(at: position, "\(characters[position]) is not expected here.") }
    return values
  }

  /// Reads `*`, a value or a range, with or without a step.
  private mutating func part(of field: CronField) throws(CronSyntaxError) -> UInt64 {
    let start = position
    var range = field.range
    var isSingle = false
    if !take("*") {
      let first = try value(of: field)
      let lastStart = position + 1
      if take("-") {
        var last = try value(of: field)
        // As the end of a range, Sunday is 7.
        if field == .weekday, last == 0, first > 0 { last = 7 }
        guard first <= last else {
          throw error(at: lastStart, "A range can't end before it begins. Write two parts with a comma in between.")
        }
        range = first...last
      } else {
        range = first...first
        isSingle = true
      }
    }
    var step = 1
    if take("/") {
      let stepStart = position
      step = try number(in: 1...field.range.count, "a step from 1 to \(field.range.count)")
      guard !isSingle else {
        let value = String(characters[start..<(stepStart - 1)])
        throw error(
          at: stepStart - 1, "A step needs a range. Write \(value)-\(field.range.upperBound)/\(step) or \(value).")
      }
    }
    return stride(from: range.lowerBound, through: range.upperBound, by: step).reduce(0) { bits, value in
      bits | (1 << UInt64(field == .weekday ? value % 7 : value))
    }
  }

  /// Reads a number or a name.
  private mutating func value(of field: CronField) throws(CronSyntaxError) -> Int {
    let start = position
    while position < end, characters[position].isLetter { position += 1 }
    if position > start {
      let name = String(characters[start..<position])
      if let index = field.names.firstIndex(of: name) { return field.range.lowerBound + index }
      position = start
    }
    let names = field.names.isEmpty ? "" : " or a name such as \(field.names[1])"
    return try number(
      in: field.range.lowerBound...field.greatest,
      "a \(field.title) from \(field.range.lowerBound) to \(field.greatest)\(names)")
  }

  private mutating func number(in range: ClosedRange<Int>, _ expected: String) throws(CronSyntaxError) -> Int {
    let start = position
    while position < end, characters[position].isASCII, characters[position].isNumber { position += 1 }
    if position > start, let number = Int(String(characters[start..<position])), range.contains(number) {
      return number
    }
    while position < end, !"-/,".contains(characters[position]) { position += 1 }
    let found = String(characters[start..<position])
    throw error(at: start, found.isEmpty ? "Expected \(expected)." : "\(found) is not \(expected).")
  }

  private mutating func take(_ character: Character) -> Bool {
    guard position < end, characters[position] == character else { return false }
    position += 1
    return true
  }

  private func error(at index: Int, _ text: String) -> CronSyntaxError {
    CronSyntaxError(expression: self.text, column: index + 1, text: text)
  }
}
