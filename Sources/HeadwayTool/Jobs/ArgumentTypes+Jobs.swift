#if Jobs
public import ArgumentParser
public import HeadwayJobs

extension JobState: ExpressibleByArgument {
  /// Creates a state from its name.
  ///
  /// - Parameter argument: The name.
  public init?(argument: String) { self.init(name: argument) }

  /// The names of all states.
  public static var allValueStrings: [String] { allCases.map(\.name) }
}
#endif
