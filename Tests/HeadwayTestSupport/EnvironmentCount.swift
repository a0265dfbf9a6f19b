import Foundation

/// Returns how often a test does something: as often as usual, or as a variable of the environment says.
///
/// - Parameters:
///   - variable: The name of the variable.
///   - usual: The number if there is no such variable.
/// - Returns: The number.
package func environmentCount(_ variable: String, else usual: Int) -> Int {
  guard let text = ProcessInfo.processInfo.environment[variable] else { return usual }
  guard let count = Int(text) else { fatalError("\(variable) is not a number: \(text)") }
  return count
}
