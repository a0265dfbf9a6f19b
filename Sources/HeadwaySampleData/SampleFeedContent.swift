/// The content of the files of a sample feed.
struct SampleFeedContent {
  /// Called after each step with its number of rows; throws if writing should stop.
  typealias Advance = (Int) throws(SampleFeedError) -> Void

  /// A file, and how it is written.
  struct File: Sendable {
    let name: String
    let write: @Sendable (SampleFeedContent, inout FeedFileWriter, Advance) throws(SampleFeedError) -> Void

    init(
      _ name: String,
      _ write: @escaping @Sendable (SampleFeedContent, inout FeedFileWriter, Advance) throws(SampleFeedError) -> Void
    ) {
      self.name = name
      self.write = write
    }
  }

  static let files: [File] = [
    File("agency.txt") { content, writer, _ throws(SampleFeedError) in try content.writeAgencies(&writer) },
    File("feed_info.txt") { content, writer, _ throws(SampleFeedError) in try content.writeFeedInfo(&writer) },
    File("calendar.txt") { content, writer, advance throws(SampleFeedError) in
      try content.writeCalendar(&writer, advance)
    },
    File("calendar_dates.txt") { content, writer, advance throws(SampleFeedError) in
      try content.writeCalendarDates(&writer, advance)
    },
    File("stops.txt") { content, writer, advance throws(SampleFeedError) in
      try content.writeStops(&writer, advance)
    },
    File("routes.txt") { content, writer, advance throws(SampleFeedError) in
      try content.writeRoutes(&writer, advance)
    },
    File("shapes.txt") { content, writer, advance throws(SampleFeedError) in
      try content.writeShapes(&writer, advance)
    },
    File("trips.txt") { content, writer, advance throws(SampleFeedError) in
      try content.writeTrips(&writer, advance)
    },
    File("stop_times.txt") { content, writer, advance throws(SampleFeedError) in
      try content.writeStopTimes(&writer, advance)
    },
  ]

  let seed: UInt64
  let stopTimes: Int
  let stopCount: Int
  let geography: SampleGeography
  let names: SampleNames
  let timetable: SampleTimetable

  init(stopTimes: Int, seed: UInt64) {
    self.seed = seed
    self.stopTimes = stopTimes
    // The feed of Berlin has about 40,000 stops.
    stopCount = min(40_000, max(20, stopTimes / 75))
    geography = SampleGeography(stopCount: stopCount, seed: seed)
    names = SampleNames(seed: seed)
    timetable = SampleTimetable(stopTimes: stopTimes, geography: geography, seed: seed)
  }

  /// The total number of rows that are passed to `Advance`.
  var rowCount: Int {
    let shapePoints = timetable.routes.reduce(0) { $0 + 2 * Self.shapePointCount(stations: $1.stations.count) }
    return 2 * timetable.serviceCount + stopCount + timetable.routes.count + shapePoints + timetable.tripCount
      + stopTimes
  }

  /// Writes the name of a station to a buffer, which is reused for each name.
  func name(ofStation station: Int, in name: inout [UInt8]) {
    name.removeAll(keepingCapacity: true)
    names.appendStation(station, town: geography.town(of: station), to: &name)
  }
}
