package import Testing

/// Notes when each test begins and ends, so that the watchdog sees a process that hangs.
///
/// Every suite has this trait, in place of a time limit per test. Such a limit also counts the time in which a test
/// waits for a processor, so whether a test passes would depend on how fast the machine is and on what else runs on it.
/// The watchdog acts only when nothing at all goes on.
package struct HangLimit: SuiteTrait, TestTrait, TestScoping {
  /// Creates the trait.
  package init() {}

  /// Whether the trait reaches the tests of a suite: it is about them.
  package var isRecursive: Bool { true }

  /// Runs one test, or one case of a test with arguments.
  @concurrent package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    let number = Watchdog.shared.begin("\(test.id)")
    defer { Watchdog.shared.end(number) }
    try await function()
  }
}
