// Agencies, stops, routes, and shapes.
extension SampleFeedContent {
  func writeAgencies(_ writer: inout FeedFileWriter) throws(SampleFeedError) {
    try writer.line("agency_id,agency_name,agency_url,agency_timezone,agency_lang,agency_phone")
    let agencies = [
      (1, "S-Bahn Lindenwerder GmbH", "s-bahn"),
      (92, "Gebr. Löwe \"Reisedienst\", Inh. Käthe Löwe", "loewe"),
      (138, "Günter Föhrenhain Fährbetrieb & Omnibusvermietung KG", "foehrenhain"),
      (731, "Ostelbische Eisenbahn, Königsbrück", "ostelbische"),
      (796, "Verkehrsbetriebe Grünhagen", "vbg"),
    ]
    for (id, name, host) in agencies {
      writer.field(id)
      writer.field(name)
      writer.field("https://\(host).example")
      writer.field("Europe/Berlin")
      writer.field("de")
      writer.emptyField()
      try writer.endRow()
    }
  }

  func writeFeedInfo(_ writer: inout FeedFileWriter) throws(SampleFeedError) {
    try writer.line(
      "feed_publisher_name,feed_publisher_url,feed_lang,feed_start_date,feed_end_date,feed_version")
    writer.field("Verkehrsverbund Grünhagen, erfunden von \"headway sample\"")
    writer.field("https://headway.example")
    writer.field("de")
    writer.field(SampleCalendar.firstDate)
    writer.field(SampleCalendar.lastDate)
    writer.field("\(stopTimes)-\(seed)")
    try writer.endRow()
  }

  func writeStops(_ writer: inout FeedFileWriter, _ advance: Advance) throws(SampleFeedError) {
    try writer.line(
      """
      stop_id,stop_code,stop_name,stop_desc,stop_lat,stop_lon,location_type,parent_station,wheelchair_boarding,\
      platform_code,zone_id
      """)
    var name: [UInt8] = []
    for station in 0..<geography.stationCount {
      self.name(ofStation: station, in: &name)
      // Readers must not expect a parent before its children.
      let comesLast = station % 3 == 1
      if !comesLast { try writeStation(station, name: name, &writer) }
      for platform in 1...geography.platformCount(of: station) {
        try writePlatform(platform, of: station, name: name, &writer)
      }
      if comesLast { try writeStation(station, name: name, &writer) }
      try advance(1 + geography.platformCount(of: station))
    }
  }

  private func writeStation(
    _ station: Int, name: [UInt8], _ writer: inout FeedFileWriter
  ) throws(SampleFeedError) {
    let position = geography.position(of: station)
    writer.field(geography.stationID(station))
    writer.emptyField()
    writer.field(name)
    writer.emptyField()
    writer.field(microdegrees: position.latitude)
    writer.field(microdegrees: position.longitude)
    writer.field(1)
    writer.emptyField()
    writer.field(station % 3)
    writer.quotedEmptyField()
    writer.field(zone(of: station))
    try writer.endRow()
  }

  private func writePlatform(
    _ platform: Int, of station: Int, name: [UInt8], _ writer: inout FeedFileWriter
  ) throws(SampleFeedError) {
    let position = geography.position(of: station, platform: platform)
    writer.field(geography.platformID(station, platform))
    writer.emptyField()
    writer.field(name)
    writer.emptyField()
    writer.field(microdegrees: position.latitude)
    writer.field(microdegrees: position.longitude)
    writer.field(0)
    writer.field(geography.stationID(station))
    writer.emptyField()
    if station % 8 == 0 {
      writer.field(platform)
    } else {
      writer.quotedEmptyField()
    }
    writer.field(zone(of: station))
    try writer.endRow()
  }

  private func zone(of station: Int) -> String {
    ["A", "B", "C"][geography.town(of: station) % 3]
  }

  func writeRoutes(_ writer: inout FeedFileWriter, _ advance: Advance) throws(SampleFeedError) {
    try writer.line(
      "route_id,agency_id,route_short_name,route_long_name,route_type,route_color,route_text_color,route_desc")
    var name: [UInt8] = []
    var longName: [UInt8] = []
    for (index, route) in timetable.routes.enumerated() {
      appendRouteID(index, &writer)
      writer.field(route.kind.agency)
      writer.field(route.kind.letters + String(route.kind.firstNumber + route.number - 1))
      if route.kind.dwell > 0, let first = route.stations.first, let last = route.stations.last {
        self.name(ofStation: Int(first), in: &name)
        longName = name
        longName += " – ".utf8
        self.name(ofStation: Int(last), in: &name)
        longName += name
        writer.field(longName)
      } else {
        writer.quotedEmptyField()
      }
      writer.field(route.kind.type)
      writer.field(route.kind.color)
      writer.field(route.kind.textColor)
      writer.quotedEmptyField()
      try writer.endRow()
      try advance(1)
    }
  }

  /// The id of a route, such as `1923_700`: its number and its type.
  func appendRouteID(_ index: Int, _ writer: inout FeedFileWriter) {
    writer.beginField()
    writer.append(1000 + index)
    writer.append(UInt8(ascii: "_"))
    writer.append(timetable.routes[index].kind.type)
  }

  /// The number of a shape.
  ///
  /// Each direction of each route has one.
  func shapeID(route: Int, direction: Int) -> Int {
    1 + 2 * route + direction
  }

  /// The number of points in a shape: two between each pair of successive stations, and the stations themselves.
  static func shapePointCount(stations: Int) -> Int {
    3 * (stations - 1) + 1
  }

  func writeShapes(_ writer: inout FeedFileWriter, _ advance: Advance) throws(SampleFeedError) {
    try writer.line("shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence")
    for route in timetable.routes.indices {
      for direction in 0...1 {
        try writeShape(route: route, direction: direction, &writer)
        try advance(Self.shapePointCount(stations: timetable.routes[route].stations.count))
      }
    }
  }

  private func writeShape(
    route: Int, direction: Int, _ writer: inout FeedFileWriter
  ) throws(SampleFeedError) {
    let stations = timetable.routes[route].stations
    let shape = shapeID(route: route, direction: direction)
    var random = SplitMix64(seed: seed, purpose: .shape, index: shape)
    func position(_ index: Int) -> (latitude: Int, longitude: Int) {
      let station = direction == 0 ? stations[index] : stations[stations.count - 1 - index]
      return geography.position(of: Int(station), platform: 1 + direction)
    }
    for point in 0..<Self.shapePointCount(stations: stations.count) {
      var (latitude, longitude) = position(point / 3)
      if point % 3 > 0 {
        // A third or two thirds of the way to the next station, and up to 70 m off the line.
        let next = position(point / 3 + 1)
        latitude += (next.latitude - latitude) * (point % 3) / 3 + random.below(1200) - 600
        longitude += (next.longitude - longitude) * (point % 3) / 3 + random.below(1200) - 600
      }
      writer.field(shape)
      writer.field(microdegrees: latitude)
      writer.field(microdegrees: longitude)
      writer.field(point)
      try writer.endRow()
    }
  }
}
