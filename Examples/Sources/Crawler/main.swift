import Headway
import Synchronization

/// What refers to what; stands for the web.
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

/// Follows links, each once, with a queue a host: so no host gets more than two requests at once.
final class Crawler: Sendable {
  private struct State {
    var seen: Set<String> = []
    var queues: [String: OperationQueue] = [:]
  }

  private let state = Mutex(State())

  var addresses: [String] { state.withLock { $0.seen.sorted() } }
  var hosts: [String] { state.withLock { $0.queues.keys.sorted() } }

  /// Fetches a page, and all to which it leads; suspends meanwhile.
  func crawl(_ address: String) async {
    guard let queue = note(address) else { return }
    do {
      // The task has its place when the host has less than two requests.
      let links = try await queue.run(TaskOperation { try await fetch(address) })
      await withDiscardingTaskGroup { group in
        for link in links { group.addTask { await self.crawl(link) } }
      }
    } catch {
      print("\(error)")
    }
  }

  /// The queue of the address's host; nil if the address is known.
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
