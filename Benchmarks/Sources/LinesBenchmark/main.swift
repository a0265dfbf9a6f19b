// Reading by line: compares `LineReader` with a plain `read` and `memchr` loop and with `readLine()`, in one process,
// on a file in the page cache. Prints a table in Markdown. Usage: LinesBenchmark [ROUNDS]

import Glibc
import HeadwayLines

struct Way {
  let name: String
  /// Called before the first round.
  var prepare: (String) -> Void = { _ in }
  let read: (String) async throws -> Int
  var seconds: [Double] = []

  var median: Double { seconds.sorted()[seconds.count / 2] }
}

/// The pattern to search for, which is rare in random letters.
let pattern = "head"

func ways() -> [Way] {
  [
    Way(name: "`read` and `memchr`") { Rivals.memchrLoop($0) },
    Way(name: "`readLine()`") { Rivals.standardLibrary($0) },
    Way(name: "`LineReader.forEachLine`, bytes") { path in
      var (lines, bytes) = (0, 0)
      try LineReader(path: path).forEachLine { line in
        lines += 1
        bytes += line.bytes.count
      }
      blackHole(bytes)
      return lines
    },
    Way(name: "`LineReader.batches`, bytes") { path in
      var (lines, bytes) = (0, 0)
      for try await batch in LineReader(path: path).batches {
        batch.forEach { line in
          lines += 1
          bytes += line.bytes.count
        }
      }
      blackHole(bytes)
      return lines
    },
    Way(name: "`LineReader.forEachLine`, `String`") { path in
      var lines = 0
      try LineReader(path: path).forEachLine { line in
        lines += 1
        blackHole(try line.string)
      }
      return lines
    },
    Way(name: "`LineReader.lines`, `String`") { path in
      var lines = 0
      for try await line in LineReader(path: path).lines {
        lines += 1
        blackHole(line)
      }
      return lines
    },
    Way(name: "no reading: the `String`s of lines in memory", prepare: LinesInMemory.load) { _ in
      var lines = 0
      LinesInMemory.forEachLine { line in
        lines += 1
        blackHole(String(decoding: line, as: UTF8.self))
      }
      return lines
    },
    Way(name: "search: `grep -c`") { Rivals.grep(pattern, $0) },
    Way(name: "search: `LineReader.batches`, `contains`") { path in
      var (lines, found) = (0, 0)
      for try await batch in LineReader(path: path).batches {
        batch.forEach { line in
          lines += 1
          if line.contains(pattern) { found += 1 }
        }
      }
      blackHole(found)
      return lines
    },
    Way(name: "search: `LineReader.lines`, `String.contains`") { path in
      var (lines, found) = (0, 0)
      for try await line in LineReader(path: path).lines {
        lines += 1
        if line.contains(pattern) { found += 1 }
      }
      blackHole(found)
      return lines
    },
  ]
}

func compare(megabytes: Int, lineLengths: ClosedRange<Int>, rounds: Int) async throws {
  let path = "/tmp/headway-lines-\(getpid()).txt"
  SampleText.write(to: path, megabytes: megabytes, lineLengths: lineLengths)
  defer { unlink(path) }
  var ways = ways()
  for way in ways { way.prepare(path) }
  // Alternates between the ways, so that other work of the machine affects all of them equally.
  for _ in 0..<rounds {
    for position in ways.indices {
      let start = ContinuousClock.now
      let lines = try await ways[position].read(path)
      ways[position].seconds.append((ContinuousClock.now - start) / .seconds(1))
      precondition(lines > 0)
    }
  }
  let lengths = "\(lineLengths.lowerBound) to \(lineLengths.upperBound)"
  print("\n\(megabytes) MB, lines of \(lengths) bytes; median of \(rounds) rounds\n")
  print("| | MB/s | × `memchr` loop | × `readLine()` |\n|---|---|---|---|")
  func ratio(_ way: Way, to other: Way) -> String { "\((other.median / way.median * 100).rounded() / 100)" }
  for way in ways {
    let rate = Int(Double(megabytes) / way.median)
    print("| \(way.name) | \(rate) | \(ratio(way, to: ways[0])) | \(ratio(way, to: ways[1])) |")
  }
}

let rounds = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? 5 : 5
try await compare(megabytes: 200, lineLengths: 20...80, rounds: rounds)
try await compare(megabytes: 200, lineLengths: 5...15, rounds: rounds)
