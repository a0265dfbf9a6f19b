import FoundationEssentials
@_spi(JobStore) import HeadwayJobs
import Testing

/// The syntax of cron expressions, and the columns of mistakes.
@Suite struct CronSyntaxTests {
  @Test(
    "J70: an invalid expression is rejected with the column of the mistake",
    arguments: [
      ("", 1), ("   ", 4), ("* * * *", 8), ("0 0 * * * *", 11), ("60 * * * *", 1), ("0 24 * * *", 3), ("0 0 0 * *", 5),
      ("0 0 32 * *", 5), ("0 0 * 13 *", 7), ("0 0 * 0 *", 7), ("0 0 * * 8", 9), ("  0  24 * * *", 6), ("x * * * *", 1),
      ("0 0 * jab *", 7), ("0 0 * * mom", 9), ("0 0 mon * *", 5), ("1- * * * *", 3), ("-1 * * * *", 1),
      ("1-5-9 * * * *", 4), ("9-1 * * * *", 3), ("0 22-2 * * *", 6), ("0 0 * * 5-1", 11), ("1, * * * *", 3),
      (",1 * * * *", 1), ("1,,2 * * * *", 3), ("*/ * * * *", 3), ("*/0 * * * *", 3), ("*/61 * * * *", 3),
      ("0 */25 * * *", 5), ("5/15 * * * *", 2), ("1-9/2/3 * * * *", 6), ("*5 * * * *", 2), ("0 0 ? * *", 5),
      ("0 0 L * *", 5), ("0 0 31 2 *", 5), ("0 0 30,31 feb *", 5), ("0 0 31 4,6,9,11 *", 5),
      ("99999999999999999999 * * * *", 1), ("٣ * * * *", 1), ("@reboot", 1), ("@daily 1", 8), ("1.5 * * * *", 2),
    ])
  func mistakes(text: String, column: Int) throws {
    let error = try #require(throws: CronSyntaxError.self) { try CronExpression(text) }
    #expect(error.column == column, "\(error)")
    #expect(error.expression == text)
    #expect(error.description.contains("column \(column)"))
  }

  @Test(
    "J70: an expression can contain names, ranges, steps, lists and macros",
    arguments: [
      ("0 0 * JAN-Mar SUN", "0 0 * 1-3 0"), ("0 0 * * 7", "0 0 * * 0"), ("0 0 * * fri-sun", "0 0 * * 0,5,6"),
      ("0 0 * * 5-7", "0 0 * * 0,5,6"), ("0 0 * * 0-7", "0 0 * * *"), ("*/20 * * * *", "0,20,40 * * * *"),
      ("10-30/10,45 * * * *", "10,20,30,45 * * * *"), ("\t1  2 3\t4 5 ", "1 2 3 4 5"), ("*/60 */24 * * *", "0 0 * * *"),
      ("00 007 * * *", "0 7 * * *"), ("@hourly", "0 * * * *"), ("@Daily", "0 0 * * *"), ("@midnight", "0 0 * * *"),
      ("@weekly", "0 0 * * sun"), ("@monthly", "0 0 1 * *"), ("@yearly", "0 0 1 1 *"), ("@annually", "0 0 1 1 *"),
      ("0 0 29-31 2 *", "0 0 29 2 *"),
    ])
  func forms(text: String, same: String) throws {
    let expected = try ticks(CronExpression(same), 20)
    #expect(try ticks(CronExpression(text), 20) == expected)
  }

  @Test("J70: the stored text of an expression has one space between fields")
  func stored() throws {
    let expression = try CronExpression(" 0\t3  * * MON ")
    #expect(expression.description == "0 3 * * mon")
    #expect(try CronExpression("0 3 * * mon") == expression)
    let payload = try JobPayload(encoding: [expression])
    #expect(try payload.decode([CronExpression].self) == [expression])
  }

  @Test("J70: if days of the month and of the week are restricted, a day that matches either has ticks")
  func days() throws {
    // January 2026 begins on a Thursday.
    #expect(try days("0 0 13 * fri", 6) == [2, 9, 13, 16, 23, 30])
    #expect(try days("0 0 * * fri", 5) == [2, 9, 16, 23, 30])
    #expect(try days("0 0 13 * *", 1) == [13])
    // As in Vixie cron, a star that begins a field does not restrict it.
    #expect(try days("0 0 */2 * fri", 2) == [9, 23])
    #expect(try days("0 0 1-31/2 * fri", 5) == [1, 2, 3, 5, 7])
    // Impossible with only one kind of day.
    #expect(try days("0 0 31 2 mon", 1) == [31 + 2])
  }

  private func days(_ text: String, _ count: Int) throws -> [Int] {
    let start = try date("2026-01-01T00:00:00Z")
    return try ticks(CronExpression(text), count).map { Int($0.timeIntervalSince(start)) / 86_400 + 1 }
  }
}
