import FoundationEssentials
@_spi(JobStore) import HeadwayJobs
import HeadwayTestKit
import Testing

/// Random expressions, against an oracle that looks at each minute.
@Suite struct CronOracleTests {
  /// Places where a clock changes: the zone, and a day before the change.
  private static let changes = [
    ("America/New_York", "2026-03-06T12:00:00Z"), ("America/New_York", "2026-10-30T12:00:00Z"),
    ("Europe/Berlin", "2026-03-27T12:00:00Z"), ("Europe/Berlin", "2026-10-23T12:00:00Z"),
    ("Australia/Lord_Howe", "2026-04-03T12:00:00Z"), ("Australia/Lord_Howe", "2026-10-02T12:00:00Z"),
    ("Pacific/Apia", "2011-12-28T12:00:00Z"), ("America/Sao_Paulo", "2014-10-17T12:00:00Z"),
    ("America/Sao_Paulo", "2016-02-19T12:00:00Z"), ("Asia/Kathmandu", "1985-12-30T12:00:00Z"),
    ("Africa/Casablanca", "2025-02-21T12:00:00Z"), ("Antarctica/Troll", "2026-03-27T12:00:00Z"),
    ("Antarctica/Troll", "2026-10-23T12:00:00Z"), ("Pacific/Kwajalein", "1993-08-19T12:00:00Z"),
    ("UTC", "2024-02-27T12:00:00Z"),
  ]

  @Test("J70: the ticks match an oracle that checks each minute", arguments: changes)
  func oracle(zone name: String, start: String) throws {
    let zone = try #require(TimeZone(identifier: name))
    let start = Int(try date(start).timeIntervalSince1970)
    let days = 4
    let oracle = Oracle(zone, start: start, days: days)
    var generator = SeededGenerator(seed: 70)
    for number in 0..<20 {
      let random = RandomExpression(using: &generator)
      let expression = try CronExpression(random.text)
      var (found, last) = ([Int](), start)
      while let next = expression.next(after: Date(timeIntervalSince1970: Double(last)), in: zone) {
        last = Int(next.timeIntervalSince1970)
        if last > start + days * 86_400 { break }
        found.append(last)
      }
      #expect(last > start + days * 86_400)
      #expect(found == oracle.ticks(of: random), "expression \(number): \(random.text) \(name)")
    }
  }
}

/// An expression with the values of its fields.
private struct RandomExpression {
  private(set) var text = ""
  private(set) var values: [Set<Int>] = []
  let isEitherDayEnough: Bool

  init(using generator: inout SeededGenerator) {
    var fields: [String] = []
    for range in [0...59, 0...23, 1...31, 1...12, 0...6] {
      let (field, values) = Self.field(range, using: &generator)
      fields.append(field)
      self.values.append(values)
    }
    // Most months have no change.
    if Int.random(in: 0..<4, using: &generator) > 0 { (fields[3], values[3]) = ("*", Set(1...12)) }
    // Possible in each month.
    if !fields[2].hasPrefix("*") {
      fields[2] += ",28"
      values[2].insert(28)
    }
    text = fields.joined(separator: " ")
    isEitherDayEnough = !fields[2].hasPrefix("*") && !fields[4].hasPrefix("*")
  }

  private static func field(
    _ range: ClosedRange<Int>, using generator: inout SeededGenerator
  ) -> (String, Set<Int>) {
    if Int.random(in: 0..<3, using: &generator) == 0 { return ("*", Set(range)) }
    var (parts, values) = ([String](), Set<Int>())
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      let ends = [Int.random(in: range, using: &generator), Int.random(in: range, using: &generator)].sorted()
      let step = Int.random(in: 1...9, using: &generator) % range.count + 1
      switch Int.random(in: 0..<4, using: &generator) {
      case 0:
        parts.append("\(ends[0])")
        values.insert(ends[0])
      case 1:
        parts.append("\(ends[0])-\(ends[1])")
        values.formUnion(ends[0]...ends[1])
      case 2:
        parts.append("\(ends[0])-\(ends[1])/\(step)")
        values.formUnion(stride(from: ends[0], through: ends[1], by: step))
      default:
        parts.append("*/\(step)")
        values.formUnion(stride(from: range.lowerBound, through: range.upperBound, by: step))
      }
    }
    return (parts.joined(separator: ","), values)
  }
}

/// Looks at each minute.
private struct Oracle {
  private let start: Int
  /// The minutes in UTC, from two days before the start.
  private let times: [Int]
  /// The clock's readings at these minutes.
  private let locals: [Int]
  /// The day, the month and the weekday of each day of the clock.
  private let dates: [Int: [Int]]

  init(_ zone: TimeZone, start: Int, days: Int) {
    self.start = start
    times = Array(stride(from: start - 2 * 86_400, through: start + days * 86_400, by: 60))
    locals = times.map { $0 + zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0))) }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let first = locals[0] / 86_400 - 3
    let pairs = (first..<(first + days + 9)).map { day in
      let date = Date(timeIntervalSince1970: Double(day * 86_400))
      let parts = calendar.dateComponents([.day, .month, .weekday], from: date)
      return (day, [parts.day, parts.month, parts.weekday].map { $0 ?? 0 })
    }
    dates = Dictionary(uniqueKeysWithValues: pairs)
  }

  func ticks(of expression: RandomExpression) -> [Int] {
    let minutes = (0..<60).map(expression.values[0].contains)
    let hours = (0..<24).map(expression.values[1].contains)
    let days = dates.mapValues { parts in
      let (isDay, isWeekday) = (expression.values[2].contains(parts[0]), expression.values[4].contains(parts[2] - 1))
      let isEither = expression.isEitherDayEnough ? isDay || isWeekday : isDay && isWeekday
      return isEither && expression.values[3].contains(parts[1])
    }
    func matches(_ local: Int) -> Bool {
      minutes[local / 60 % 60] && hours[local / 3_600 % 24] && days[local / 86_400] == true
    }
    let followsClock = expression.values[1].count == 24
    var ticks: [Int] = []
    var shown = locals[0]
    for (time, local) in zip(times, locals).dropFirst() {
      let isTick: Bool
      if followsClock {
        isTick = matches(local)
      } else {
        // Any time that the clock reaches or skips in this minute.
        isTick = local > shown && stride(from: shown + 60, through: local, by: 60).contains(where: matches)
      }
      shown = max(shown, local)
      if isTick, time > start { ticks.append(time) }
    }
    return ticks
  }
}
