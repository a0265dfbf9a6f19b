import Headway
import Synchronization

/// The links between pages.
///
/// This represents the web.
let pages = [
  "a.example/": ["a.example/news", "a.example/about", "b.example/"],
  "a.example/news": ["a.example/", "b.example/maps", "c.example/"],
  "a.example/about": ["c.example/"],
  "b.example/": ["b.example/maps", "b.example/lost"],
  "b.example/maps": ["a.example/"],
  "c.example/": ["a.example/news"],
]

struct NotFound: Error {
  let address: String
}

func fetch(_ address: String) async throws -> [String] {
  try await Task.sleep(for: .milliseconds(1))
  guard let links = pages[address] else { throw NotFound(address: address) }
  return links
}

/// Follows each link once, with one queue per host, so that no host receives more than two requests at the same time.
final class Crawler: Sendable {
  private struct State {
    var seen: Set<String> = []
    var queues: [String: OperationQueue] = [:]
  }

  private let state = Mutex(State())

  var addresses: [String] { state.withLock { $0.seen.sorted() } }
  var hosts: [String] { state.withLock { $0.queues.keys.sorted() } }

  /// Fetches a page, and all pages that it leads to.
  ///
  /// Suspends until then.
  func crawl(_ address: String) async {
    guard let queue = note(address) else { return }
    do {
      // The task starts when the host has fewer than two requests.
      let links = try await queue.run(TaskOperation { try await fetch(address) })
      await withDiscardingTaskGroup { group in
        for link in links { group.addTask { await self.crawl(link) } }
      }
    } catch {
      print("\(error)")
    }
  }

  /// Returns the queue of the address's host.
  ///
  /// Nil if the address has been visited.
  private func note(_ address: String) -> OperationQueue? {
    state.withLock { state in
      guard state.seen.insert(address).inserted else { return nil }
      let host = String(address.prefix { $0 != "/" })
      if let known = state.queues[host] { return known }
      let queue = OperationQueue()
      queue.name = host
      queue.maxConcurrentOperationCount = 2
      state.queues[host] = queue
      return queue
    }
  }
}

let crawler = Crawler()
await crawler.crawl("a.example/")
print(crawler.hosts.joined(separator: " "))
for address in crawler.addresses { print(address) }
