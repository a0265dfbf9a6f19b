import Headway
@_spi(JobStore) import HeadwayJobs
import Testing

@Suite struct JobSettingsTests {
  @Test("J12: settings that contain an infinite number can be stored")
  func infinite() throws {
    var settings = JobSettings()
    let backoff = RetryPolicy.Backoff.exponential(initialDelay: .seconds(1), factor: .infinity, maxDelay: .seconds(9))
    settings.retry = RetryPolicy(maxAttemptCount: 2, backoff: backoff)
    #expect(try JobSettings(stored: settings.stored) == settings)
  }

  @Test("J40: the text of an error is shortened to whole characters, even if a character is very long")
  func longText() {
    func kept(_ text: String) -> String { JobErrorRecord(attempt: 1, time: .now(), type: "", text: text).text }
    let length = JobErrorRecord.maxTextLength
    let plain = String(repeating: "a", count: length)
    #expect(kept(plain) == plain)
    #expect(kept(plain + "b") == plain)
    #expect(kept("a" + String(repeating: "é", count: length)) == "a" + String(repeating: "é", count: length / 2 - 1))
    // The last character is followed by an accent, so it is not whole.
    #expect(kept(plain + "\u{301}") == String(plain.dropLast()))
    // A single character of 2 MB.
    let giant = kept("e" + String(repeating: "\u{301}", count: 1_000_000))
    #expect(giant.utf8.count == length - 1)
  }

  @Test("J12: settings without a value take no space")
  func empty() throws {
    #expect(JobSettings().stored == nil)
    #expect(try JobSettings(stored: nil) == JobSettings())
  }
}
