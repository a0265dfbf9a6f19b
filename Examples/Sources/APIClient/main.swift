// A client of a server: retries, a timeout for each attempt, and a rate that the server allows.
import Headway
import Synchronization

/// The server is busy and specifies how long to wait.
struct ServerBusy: RetryableError {
  let retryDelay: Duration?
}

/// The server has no such page, so another attempt is not worthwhile.
struct NotFound: RetryableError {
  let path: String
  var isRetryable: Bool { false }
}

/// A server that is busy when it gets every third page for the first time.
final class Server: Sendable {
  private let visits = Mutex<[String: Int]>([:])

  var visitCount: Int { visits.withLock { $0.values.reduce(0, +) } }

  func page(_ path: String) async throws -> String {
    let visit = visits.withLock { visits in
      visits[path, default: 0] += 1
      return visits[path]!
    }
    guard let number = Int(path) else { throw NotFound(path: path) }
    if number.isMultiple(of: 3), visit == 1 { throw ServerBusy(retryDelay: .milliseconds(5)) }
    return "<page \(number)>"
  }
}

struct Client {
  let server: Server
  private let queue: OperationQueue

  init(_ server: Server) {
    self.server = server
    queue = OperationQueue(name: "requests", maxConcurrentOperationCount: 4)
    queue.rateLimit = RateLimit(1_000, per: .seconds(1), burst: 10)
  }

  func page(_ path: String) -> TaskOperation<String> {
    queue.addTask(
      .name(path), .timeout(.seconds(10)), .totalTimeout(.seconds(60)),
      .retry(.exponential(maxAttemptCount: 5, initialDelay: .milliseconds(10)))
    ) { [server] _ in
      try await server.page(path)
    }
  }
}

let client = Client(Server())
let pages = (1...9).map { client.page("\($0)") }
for page in pages {
  let text = try await page.value
  print(page.attempt > 1 ? "\(text) after \(page.attempt) attempts" : text)
}
let missing = client.page("contact")
do {
  _ = try await missing.value
} catch let error as NotFound {
  print("no page “\(error.path)”, after \(missing.attempt) attempt")
}
print("\(client.server.visitCount) requests")
