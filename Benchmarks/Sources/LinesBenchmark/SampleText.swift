import Glibc
import HeadwayTestKit

/// Creates a file of random letters in lines, which is always the same for the same parameters.
enum SampleText {
  static func write(to path: String, megabytes: Int, lineLengths: ClosedRange<Int>) {
    var random = SeededGenerator(seed: 42)
    var block: [UInt8] = []
    while block.count < 4 << 20 {
      let length = lineLengths.lowerBound + Int(random.next() % UInt64(lineLengths.count))
      for _ in 0..<length { block.append(UInt8(ascii: "a") + UInt8(random.next() % 26)) }
      block.append(UInt8(ascii: "\n"))
    }
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    precondition(file >= 0, "\(path) can't be written.")
    for _ in 0..<megabytes / 4 {
      let written = Glibc.write(file, block, block.count)
      precondition(written == block.count, "\(path) could not be written whole.")
    }
    close(file)
  }
}
