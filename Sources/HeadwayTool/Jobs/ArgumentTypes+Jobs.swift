#if Jobs
public import ArgumentParser
import Foundation
public import Headway
public import HeadwayJobs

extension JobState: ExpressibleByArgument {
  /// Creates a state from its name.
  ///
  /// - Parameter argument: The name of a state, such as `failed`.
  public init?(argument: String) { self.init(name: argument) }

  /// The names of all states.
  public static var allValueStrings: [String] { allCases.map(\.name) }
}

extension JobErrorGroup.ID: ExpressibleByArgument {
  /// Creates an ID from its text.
  ///
  /// - Parameter argument: The 16 hexadecimal digits of the ID.
  public init?(argument: String) { self.init(argument) }
}

extension QueuePriority: ExpressibleByArgument {
  /// Creates a priority from its name.
  ///
  /// - Parameter argument: The name, such as `veryHigh`.
  public init?(argument: String) {
    guard let priority = Self.allCases.first(where: { $0.name == argument }) else { return nil }
    self = priority
  }

  /// The names of all priorities.
  public static var allValueStrings: [String] { allCases.map(\.name) }

  /// The name of the priority.
  var name: String { "\(self)" }
}

extension JobPayload {
  /// Creates a payload from the value of an option.
  ///
  /// - Parameter text: The text, which is stored unchanged.
  /// - Throws: `ValidationError` if the text is not valid JSON.
  init(json text: String) throws {
    do {
      _ = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
    } catch {
      throw ValidationError("use valid JSON, in quotation marks of the shell, such as '{\"path\":\"a.jpg\"}'.")
    }
    self.init(bytes: Array(text.utf8))
  }
}
#endif
