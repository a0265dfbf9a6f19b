#if HTTP
// `HTTPBenchmark headway|client file URL PATH`, `HTTPBenchmark headway|client small URL COUNT JOBS`: requests by
// Headway, or by AsyncHTTPClient itself. `script/bench http` measures the time and the memory of the process.
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

func fail(_ message: String) -> Never {
  print("HTTPBenchmark: \(message)")
  exit(1)
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 4 else { fail("headway|client file|small URL …") }
let url = arguments[2]
switch (arguments[0], arguments[1]) {
case ("headway", "file"): try await HeadwayRequests.file(url, to: arguments[3])
case ("client", "file"): try await ClientRequests.file(url, to: arguments[3])
case ("headway", "small"):
  try await HeadwayRequests.small(url, count: Int(arguments[3]) ?? 0, jobs: Int(arguments[4]) ?? 1)
case ("client", "small"):
  try await ClientRequests.small(url, count: Int(arguments[3]) ?? 0, jobs: Int(arguments[4]) ?? 1)
default: fail("there is no \(arguments[0]) \(arguments[1])")
}
#endif
