// A search field that searches when the user stops typing. Each change of the text cancels the previous search.
import Headway
import HeadwayTestKit

/// A server that finds titles.
///
/// It takes an hour for one of the search terms.
struct Server: Sendable {
  /// The search terms that the server has received.
  let requests = EventRecorder<String>()
  /// Opens when the slow request begins.
  let isSlow = Gate()

  func titles(with text: String) async throws -> [String] {
    requests.record(text)
    if text == "hea" {
      isSlow.open()
      try await Task.sleep(for: .seconds(3_600))
    }
    return ["heading", "headway", "heap", "queue"].filter { $0.hasPrefix(text) }
  }
}

struct SearchField {
  let server: Server
  private let queue = OperationQueue(name: "search")

  init(_ server: Server, clock: some Clock<Duration>) {
    self.server = server
    queue.clock = clock
  }

  /// Searches for a text if no other text follows within 300 milliseconds.
  func textDidChange(to text: String) -> CoalescedTask<[String]> {
    queue.addTask(coalescing: "search", by: .replaceUnfinished, "search for “\(text)”", .delay(.milliseconds(300))) {
      [server] in
      try await server.titles(with: text)
    }
  }
}

// An app does not set the clock. Here, a manual clock makes the output independent of the machine's speed.
let (server, clock) = (Server(), ManualClock())
let field = SearchField(server, clock: clock)
var searches: [(text: String, search: CoalescedTask<[String]>)] = []

/// Changes the text and advances the clock.
@MainActor func type(_ text: String, thenWait duration: Duration) async {
  searches.append((text, field.textDidChange(to: text)))
  await clock.waitForSleepers(count: 1)
  clock.advance(by: duration)
}

for text in ["h", "he"] { await type(text, thenWait: .milliseconds(100)) }
await type("hea", thenWait: .milliseconds(300))
await server.isSlow.untilOpen()
print("The server searches for \(server.requests.events).")

await type("head", thenWait: .milliseconds(300))
for (text, search) in searches {
  do {
    print("“\(text)”: \(try await search.value)")
  } catch is CancellationError {
    print("“\(text)”: cancelled")
  }
}
print("The server has received \(server.requests.count) requests.")
