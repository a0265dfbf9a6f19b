import Headway
import Testing

@Suite("Stored policies") struct PolicyCodingTests {
  @Test("X2: a policy is stored and read, and an invalid one is rejected") func retryPolicy() throws {
    for policy in [
      RetryPolicy.never, .exponential(maxAttemptCount: 4), .constant(maxAttemptCount: 2, delay: .milliseconds(3)),
      RetryPolicy(maxAttemptCount: 3, backoff: .custom([.seconds(1)]), maxElapsedTime: .seconds(9), keepsSlot: true),
    ] {
      #expect(try StoredForm.copy(of: policy) == policy)
    }
    let text = try StoredForm.text(
      of: RetryPolicy.exponential(maxAttemptCount: 4), replacing: "\"maxAttemptCount\":4", with: "\"maxAttemptCount\":0"
    )
    #expect(throws: DecodingError.self) { try StoredForm.decode(RetryPolicy.self, from: text) }
  }

  @Test("X4: a limit is stored and read, and an invalid one is rejected")
  func rateLimit() throws {
    for limit in [RateLimit(5, per: .seconds(2), burst: 3), .slidingWindow(5, per: .milliseconds(3))] {
      #expect(try StoredForm.copy(of: limit) == limit)
    }
    let text = try StoredForm.text(of: RateLimit(5, per: .seconds(2)), replacing: "\"count\":5", with: "\"count\":0")
    #expect(throws: DecodingError.self) { try StoredForm.decode(RateLimit.self, from: text) }
  }
}
