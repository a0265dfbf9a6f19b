// `URLSessionBenchmark file URL PATH`, `URLSessionBenchmark small URL COUNT JOBS`: the requests of `HTTPBenchmark` by
// Foundation. This is a separate program, because linking Foundation's networking costs time at the start and memory.
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("URLSessionBenchmark: \(message)\n".utf8))
  exit(1)
}

func download(_ url: URL, to path: String) async throws {
  try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
    let task = URLSession.shared.downloadTask(with: url) { file, _, error in
      continuation.resume(
        with: Result {
          guard let file else { throw error ?? URLError(.unknown) }
          try FileManager.default.moveItem(at: file, to: URL(fileURLWithPath: path))
        })
    }
    task.resume()
  }
}

func requestAll(_ url: String, count: Int, jobs: Int) async throws {
  let configuration = URLSessionConfiguration.ephemeral
  configuration.httpMaximumConnectionsPerHost = jobs
  let session = URLSession(configuration: configuration)
  try await withThrowingTaskGroup(of: Int.self) { group in
    var sizes: Set<Int> = []
    for number in 1...count {
      if number > jobs, let size = try await group.next() { sizes.insert(size) }
      group.addTask { try await session.data(from: URL(string: "\(url)?\(number)")!).0.count }
    }
    for try await size in group { sizes.insert(size) }
    guard sizes.count == 1 else { fail("the answers differ") }
  }
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 3, let url = URL(string: arguments[1]) else { fail("file URL PATH, or small URL COUNT JOBS") }
switch arguments[0] {
case "file": try await download(url, to: arguments[2])
case "small": try await requestAll(arguments[1], count: Int(arguments[2]) ?? 0, jobs: Int(arguments[3]) ?? 1)
default: fail("there is no \(arguments[0])")
}
