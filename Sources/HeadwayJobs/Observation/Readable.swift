/// Readable forms of numbers and durations.
package enum Readable {
  /// Returns a number with separators, for example `1,234,567`.
  package static func number(_ number: Int) -> String {
    var text = "", digits = String(number.magnitude)
    while digits.count > 3 {
      text = "," + digits.suffix(3) + text
      digits.removeLast(3)
    }
    return (number < 0 ? "-" : "") + digits + text
  }

  /// Returns a count with its noun, for example `1 job` or `1,000 jobs`.
  package static func count(_ count: Int, _ noun: String) -> String {
    "\(number(count)) \(noun)\(count == 1 ? "" : "s")"
  }

  /// Returns a duration in its largest unit, for example `3 min`.
  package static func duration(_ duration: Duration) -> String {
    let milliseconds = max(0, duration / .milliseconds(1))
    switch milliseconds {
    case ..<1: return milliseconds == 0 ? "0 ms" : "< 1 ms"
    case ..<1_000: return "\(Int(milliseconds)) ms"
    case ..<10_000: return "\(Double(Int(milliseconds / 100)) / 10) s"
    case ..<120_000: return "\(Int(milliseconds / 1_000)) s"
    case ..<7_200_000: return "\(Int(milliseconds / 60_000)) min"
    case ..<172_800_000: return "\(Int(milliseconds / 3_600_000)) h"
    default: return "\(Int(min(milliseconds / 86_400_000, 1e9))) d"
    }
  }

  /// Returns a part as a percentage.
  package static func percent(_ part: Double) -> String {
    part > 0 && part < 0.01 ? "< 1%" : "\(Int((part * 100).rounded()))%"
  }

  /// Returns the first line of a text, shortened.
  package static func line(_ text: String, length: Int = 160) -> String {
    let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    return line.count > length ? line.prefix(length - 1) + "…" : line
  }

  /// Returns a sentence, with a capital letter and a period.
  package static func sentence(_ text: String) -> String { text.prefix(1).uppercased() + ended(text).dropFirst() }

  /// Returns a text that ends like a sentence, with a period if it has no other sign at its end.
  package static func ended(_ text: String) -> String {
    text.last.map { ".?!…".contains($0) } ?? true ? text : text + "."
  }
}
