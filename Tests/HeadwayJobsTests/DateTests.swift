import FoundationEssentials
@_spi(JobStore) import HeadwayJobs
import Testing

/// Dates in payloads, and the times of stores.
@Suite struct DateTests {
  @Test(
    "J5: dates in payloads keep their day and their milliseconds",
    arguments: [
      (1_800_000_060, "2027-01-15T08:01:00.000Z"), (1_800_000_060.123, "2027-01-15T08:01:00.123Z"),
      (1_800_000_060.9996, "2027-01-15T08:01:01.000Z"), (-1.5, "1969-12-31T23:59:58.500Z"),
    ]) func payload(seconds: Double, text: String) throws
  {
    let date = Date(timeIntervalSince1970: seconds)
    let payload = try JobPayload(encoding: [date])
    #expect(String(decoding: payload.bytes, as: UTF8.self) == #"["\#(text)"]"#)
    let decoded = try payload.decode([Date].self)
    #expect(abs(decoded[0].timeIntervalSince(date)) < 0.000_6)
    #expect(try JobPayload(encoding: decoded) == payload)
    #expect(StoreTime(date).description == text)
  }

  @Test("J5: the first and the last date can be read again")
  func distant() throws {
    for date in [Date.distantPast, .distantFuture] {
      #expect(try JobPayload(encoding: [date]).decode([Date].self) == [date])
    }
  }

  @Test("J5: a date that could not be read again is rejected", arguments: [-1e11, 1e17, .nan, .infinity])
  func unreadable(seconds: Double) {
    #expect(throws: EncodingError.self) { try JobPayload(encoding: [Date(timeIntervalSince1970: seconds)]) }
  }

  @Test("J5: a date without fractions of a second is decoded, and other text is rejected") func decoding() throws {
    let payload = JobPayload(bytes: Array(#"["2027-01-15T08:01:00Z"]"#.utf8))
    #expect(try payload.decode([Date].self) == [Date(timeIntervalSince1970: 1_800_000_060)])
    let wrong = JobPayload(bytes: Array(#"["08:01:00.000"]"#.utf8))
    #expect(throws: DecodingError.self) { try wrong.decode([Date].self) }
  }
}
