import Glibc

/// Other ways to read a file line by line.
///
/// Each processes every line and returns the number of lines.
enum Rivals {
  /// The fastest plain loop: one buffer, `read` and `memchr`.
  static func memchrLoop(_ path: String) -> Int {
    let size = 128 << 10
    let buffer = UnsafeMutableRawPointer.allocate(byteCount: 2 * size, alignment: 16)
    defer { buffer.deallocate() }
    let file = open(path, O_RDONLY)
    defer { close(file) }
    var (rest, lines, bytes) = (0, 0, 0)
    while case let count = read(file, buffer + rest, size), count > 0 {
      let end = buffer + rest + count
      var start = buffer
      while let hit = memchr(start, 10, end - start) {
        lines += 1
        bytes += hit - start
        start = hit + 1
      }
      rest = end - start
      memmove(buffer, start, rest)
    }
    blackHole(bytes)
    return lines
  }

  /// The standard library's `readLine()`, on standard input.
  static func standardLibrary(_ path: String) -> Int {
    dup2(open(path, O_RDONLY), STDIN_FILENO)
    // `stdin` remembers that it reached the end. Swift 6 does not allow access to the variable by name.
    if let variable = dlsym(nil, "stdin") {
      rewind(variable.assumingMemoryBound(to: UnsafeMutablePointer<FILE>.self).pointee)
    }
    var lines = 0
    while let line = readLine() {
      lines += 1
      blackHole(line)
    }
    return lines
  }

  /// `grep -c` in a separate process: returns the number of lines that contain the pattern.
  static func grep(_ pattern: String, _ path: String) -> Int {
    guard let output = popen("LC_ALL=C grep -c '\(pattern)' '\(path)'", "r") else { return 0 }
    defer { pclose(output) }
    var line = [CChar](repeating: 0, count: 32)
    guard fgets(&line, Int32(line.count), output) != nil else { return 0 }
    return line.withUnsafeBufferPointer { atol($0.baseAddress!) }
  }
}

/// Prevents the compiler from removing the computation of a value.
@inline(never) func blackHole<Value>(_ value: Value) {}
