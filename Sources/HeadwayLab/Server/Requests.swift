#if Lab
import Hummingbird
import LongRunningTechniques

struct RunRequest: Decodable {
  var names: [String]

  enum CodingKeys: String, CodingKey {
    case names = "techniques"
  }

  func techniques() throws -> [Technique] {
    try names.prefix(Technique.allCases.count).map { name in
      guard let technique = Technique(rawValue: name) else { throw HTTPError(.unprocessableContent) }
      return technique
    }
  }
}

struct TaskRequest: Decodable {
  var task: Int?
}

struct SettingsRequest: Decodable {
  var maximum: Int?
  var isSuspended: Bool?
}

struct PriorityRequest: Decodable {
  var task: Int
  var priority: Int
}

struct TouchRequest: Decodable {
  var viewer: String
  var x: Double
  var y: Double
}

struct DependencyRequest: Decodable {
  var task: Int
  var other: Int
}
#endif
