/// A route of a sample feed: its name, its stations, and the travel time from each station to the next.
struct SampleRoute {
  /// The kind of service on the route.
  let kind: Kind
  /// The number of the route among the routes of its kind, counted from 1.
  let number: Int
  /// The stations in direction 0; direction 1 has the same stations in reverse.
  let stations: [Int32]
  /// The travel times from each station to the next in half minutes; one fewer than the stations.
  let halfMinutes: [UInt8]

  /// A kind of service on a route, and its operator.
  struct Kind {
    /// The letters at the beginning of the short name.
    let letters: String
    /// The extended route type of GTFS, as used in the feed of Berlin.
    let type: Int
    let agency: Int
    let color: String
    let textColor: String
    /// The first number of its routes' short names.
    let firstNumber: Int
    /// The seconds between arrival and departure at each stop.
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

    /// All kinds.
    ///
    /// The first routes get the kinds in this order; for later routes, buses are drawn more often.
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
