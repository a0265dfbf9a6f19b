// Services, trips, and stop times.
extension SampleFeedContent {
  func writeCalendar(_ writer: inout FeedFileWriter, _ advance: Advance) throws(SampleFeedError) {
    try writer.line(
      "service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date")
    for service in 1...timetable.serviceCount {
      writer.field(service)
      for day in SampleCalendar.pattern(ofService: service).week { writer.field(day) }
      writer.field(SampleCalendar.firstDate)
      writer.field(SampleCalendar.lastDate)
      try writer.endRow()
      try advance(1)
    }
  }

  func writeCalendarDates(_ writer: inout FeedFileWriter, _ advance: Advance) throws(SampleFeedError) {
    try writer.line("service_id,date,exception_type")
    func exception(_ service: Int, day: Int, isAdded: Bool, _ writer: inout FeedFileWriter) throws(SampleFeedError) {
      writer.field(service)
      writer.field(SampleCalendar.date(ofDay: day))
      writer.field(isAdded ? 1 : 2)
      try writer.endRow()
    }
    for service in 1...timetable.serviceCount {
      var random = SplitMix64(seed: seed, purpose: .service, index: service)
      switch SampleCalendar.pattern(ofService: service) {
      case .weekdays:
        for day in SampleCalendar.holidays { try exception(service, day: day, isAdded: false, &writer) }
      case .weekends:
        for day in SampleCalendar.holidays { try exception(service, day: day, isAdded: true, &writer) }
      case .singleDates:
        var day = random.below(20)
        while day < SampleCalendar.dayCount {
          try exception(service, day: day, isAdded: true, &writer)
          day += 1 + random.below(10)
        }
      case .daily:
        break
      }
      try advance(1)
    }
  }

  func writeTrips(_ writer: inout FeedFileWriter, _ advance: Advance) throws(SampleFeedError) {
    try writer.line(
      """
      route_id,service_id,trip_id,trip_headsign,trip_short_name,direction_id,block_id,shape_id,wheelchair_accessible,\
      bikes_allowed
      """)
    var headsign: [UInt8] = []
    try timetable.forEachTrip { trip throws(SampleFeedError) in
      appendRouteID(trip.route, &writer)
      writer.field(trip.service)
      writer.field(trip.id)
      name(ofStation: station(trip.stopCount - 1, of: trip), in: &headsign)
      writer.field(headsign)
      writer.emptyField()
      writer.field(trip.direction)
      if let block = trip.block {
        writer.field(block)
      } else {
        writer.emptyField()
      }
      writer.field(shapeID(route: trip.route, direction: trip.direction))
      if trip.isAccessible {
        writer.field(1)
      } else {
        writer.emptyField()
      }
      writer.emptyField()
      try writer.endRow()
      try advance(1)
    }
  }

  func writeStopTimes(_ writer: inout FeedFileWriter, _ advance: Advance) throws(SampleFeedError) {
    try writer.line(
      "trip_id,arrival_time,departure_time,stop_id,stop_sequence,pickup_type,drop_off_type,stop_headsign")
    try timetable.forEachTrip { trip throws(SampleFeedError) in
      let route = timetable.routes[trip.route]
      var time = trip.start
      for sequence in 0..<trip.stopCount {
        let isFirst = sequence == 0
        let isLast = sequence == trip.stopCount - 1
        writer.field(trip.id)
        writer.field(secondsOfDay: time)
        if !isFirst && !isLast { time += route.kind.dwell }
        writer.field(secondsOfDay: time)
        writer.field(geography.platformID(station(sequence, of: trip), 1 + trip.direction))
        writer.field(sequence)
        // Passengers can't board at the last stop or alight at the first one.
        writer.field(isLast ? 1 : 0)
        writer.field(isFirst ? 1 : 0)
        writer.quotedEmptyField()
        try writer.endRow()
        if !isLast {
          let leg = trip.direction == 0 ? sequence : route.halfMinutes.count - 1 - sequence
          time += 30 * Int(route.halfMinutes[leg])
        }
      }
      try advance(trip.stopCount)
    }
  }

  /// The station of a stop of a trip.
  ///
  /// Stops are counted from 0 in the trip's own direction.
  private func station(_ sequence: Int, of trip: SampleTimetable.Trip) -> Int {
    let stations = timetable.routes[trip.route].stations
    return Int(trip.direction == 0 ? stations[sequence] : stations[stations.count - 1 - sequence])
  }
}
