// A service that renders reports for its customers. Customers take turns, each within its own limits. If the reports of
// a customer fail, the service pauses them.
import Headway
import HeadwayTestKit

/// Thrown if the customer's storage can't be reached.
struct StorageUnreachable: Error {}

struct ReportService {
  /// The customer of each report, in starting order.
  let starts = EventRecorder<String>()
  let queue = OperationQueue(name: "reports", maxConcurrentOperationCount: 2)

  init() {
    queue.defaultKeyPolicy = KeyPolicy(
      maxConcurrentOperationCount: 1, circuitBreaker: CircuitBreaker(maxFailureCount: 2, openDuration: .seconds(30)))
    queue.setKeyPolicy(KeyPolicy(weight: 2), forKey: "premium")
  }

  func report(for customer: String) -> TaskOperation<String> {
    queue.addTask("report for \(customer)", .key(customer)) { [starts] in
      starts.record(customer)
      if customer == "broken" { throw StorageUnreachable() }
      return "report for \(customer)"
    }
  }
}

let clock = ManualClock()
let service = ReportService()
service.queue.clock = clock

// One customer requests many reports. The other customers don't have to wait for all of them.
service.queue.maxConcurrentOperationCount = 1
service.queue.isSuspended = true
let reports = [("large", 1_000), ("premium", 6), ("small", 2)].flatMap { customer, count in
  (0..<count).map { _ in service.report(for: customer) }
}
service.queue.isSuspended = false
print(try await reports[reports.count - 1].value)
for report in reports { _ = try await report.value }
print(service.starts.events.prefix(10).joined(separator: " "))
print(service.starts.count, "reports")

// The storage of one customer can't be reached. After two failures, the remaining reports of this customer wait.
let broken = (0..<4).map { _ in service.report(for: "broken") }
for report in broken[..<2] { try await report.untilFinished() }
print(service.queue.circuitBreakerState(forKey: "broken"))
print(broken[3].diagnosis)
print(try await service.report(for: "small").value)

// Half a minute later, one report starts as a probe. It fails because the storage still can't be reached.
await clock.waitForSleepers(count: 1)
clock.advance(by: .seconds(30))
try await broken[2].untilFinished()
print(service.queue.circuitBreakerState(forKey: "broken"), broken[3].isFinished)
service.queue.cancelAllOperations()
