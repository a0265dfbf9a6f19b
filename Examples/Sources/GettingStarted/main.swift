import Headway

let queue = OperationQueue(name: "photos", maxConcurrentOperationCount: 4)
queue.isSuspended = true  // So that there is something to explain below.

// Retries with exponential backoff, without holding a thread between attempts.
let photo = queue.addTask("download", .retry(.exponential(maxAttemptCount: 5))) { attempt in
  try await download("cat.jpg", attempt)
}
// Starts after the download has succeeded and uses its result.
let thumbnail = queue.addTask("resize", .dependingOn(photo)) {
  try await resize(photo.value)
}
print(thumbnail.diagnosis)

queue.isSuspended = false
print(try await thumbnail.value)  // Throws the error of the step that failed.

// Stand-ins for real work.
struct Offline: Error {}
func download(_ name: String, _ attempt: Int) async throws -> String {
  if attempt == 1 { throw Offline() } else { return name }
}
func resize(_ photo: String) async throws -> String { "small \(photo)" }
