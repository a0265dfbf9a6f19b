/// A route of a sample feed: its name, its stations, and how long it takes from each to the next.
struct SampleRoute {
  /// What runs on it.
  let kind: Kind
  /// Its place among the routes of its kind, counted from 1.
  let number: Int
  /// The stations in direction 0; direction 1 calls at the same in reverse.
  let stations: [Int32]
  /// Half minutes from each station to the next; one fewer than stations.
  let halfMinutes: [UInt8]

  /// What runs on a route, and who runs it.
  struct Kind {
    /// What the short name begins with.
    let letters: String
    /// The extended route type of GTFS, as the feed of Berlin uses it.
    let type: Int
    let agency: Int
    let color: String
    let textColor: String
    /// The first number of its routes' short names.
    let firstNumber: Int
    /// Seconds at each stop between arrival and departure.
    let dwell: Int
    let isNight: Bool

    init(
      _ letters: String, type: Int, agency: Int, color: String = "", textColor: String = "", firstNumber: Int = 1,
      dwell: Int = 0, isNight: Bool = false
    ) {
      self.letters = letters
      self.type = type
      self.agency = agency
      self.color = color
      self.textColor = textColor
      self.firstNumber = firstNumber
      self.dwell = dwell
      self.isNight = isNight
    }

    /// All kinds, in the order in which the first routes get them; after those, buses are drawn more often.
    static let all = [
      Kind("", type: 700, agency: 796, firstNumber: 100),
      Kind("N", type: 700, agency: 796, isNight: true),
      Kind("S", type: 109, agency: 1, color: "006F35", textColor: "FFFFFF", dwell: 30),
      Kind("U", type: 400, agency: 796, color: "224F86", textColor: "FFFFFF", dwell: 30),
      Kind("M", type: 900, agency: 796, color: "BE1414", textColor: "FFFFFF"),
      Kind("RE", type: 100, agency: 731, dwell: 60),
      Kind("X", type: 700, agency: 92),
      Kind("F", type: 1000, agency: 138),
      Kind("", type: 3, agency: 92, firstNumber: 600),
    ]
  }
}
