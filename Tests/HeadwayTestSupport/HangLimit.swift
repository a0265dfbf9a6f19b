package import Testing

/// Records when each test begins and ends, so that the watchdog detects a process that hangs.
///
/// The trait also limits how many tests run at the same time: see ``TestSlots``.
///
/// Every suite has this trait, instead of a time limit per test. Such a limit would also count the time that a test
/// waits for a processor. A test would pass or fail depending on the speed of the machine and on the other programs
/// that run on it. The watchdog acts only if nothing at all makes progress.
package struct HangLimit: SuiteTrait, TestTrait, TestScoping {
  /// Creates the trait.
  package init() {}

  /// Whether the trait applies to the tests of a suite: it does.
  package var isRecursive: Bool { true }

  /// Runs one test, or one case of a test with arguments.
  @concurrent package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    await TestSlots.shared.take()
    defer { TestSlots.shared.giveBack() }
    let number = Watchdog.shared.begin("\(test.id)")
    defer { Watchdog.shared.end(number) }
    try await function()
  }
}
