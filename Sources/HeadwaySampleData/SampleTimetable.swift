/// The routes of a sample feed, and the trips on them.
///
/// At most 1,200 routes are kept in memory. Trips are not: they follow from their numbers, and are generated again for
/// each of the two files that list them.
struct SampleTimetable {
  let seed: UInt64
  let stopTimes: Int
  let geography: SampleGeography
  let serviceCount: Int
  let routes: [SampleRoute]
  /// The number of trips if each had 20 stops; the actual number is close to it.
  private let plannedTripCount: Int

  init(stopTimes: Int, geography: SampleGeography, seed: UInt64) {
    self.seed = seed
    self.stopTimes = stopTimes
    self.geography = geography
    plannedTripCount = max(1, stopTimes / 20)
    // The calendar of Berlin has 2,052 services.
    serviceCount = min(2052, max(4, plannedTripCount / 70))
    let routeCount = min(1200, plannedTripCount, 2 * integerSquareRoot(min(plannedTripCount, 1_000_000)))
    routes = Self.makeRoutes(routeCount, geography: geography, seed: seed)
  }

  private static func makeRoutes(_ count: Int, geography: SampleGeography, seed: UInt64) -> [SampleRoute] {
    let kinds = SampleRoute.Kind.all
    var routesOfKind = [Int](repeating: 0, count: kinds.count)
    return (0..<count).map { index in
      var random = SplitMix64(seed: seed, purpose: .route, index: index)
      let kind = index < kinds.count ? index : [0, 0, 0, 0, 8, 8, 8, 8, 1, 2, 3, 4, 4, 5, 6, 7][random.below(16)]
      routesOfKind[kind] += 1
      // In a pair of successive routes, one is as much longer than 20 stops as the other is shorter, so the mean stays
      // 20.
      var pair = SplitMix64(seed: seed, purpose: .route, index: -1 - index / 2)
      let difference = pair.below(8)
      let isUnpaired = index == count - 1 && count % 2 == 1
      let length = isUnpaired ? 20 : index % 2 == 0 ? 20 + difference : 20 - difference
      let stations = geography.walk(stations: length, random: &random)
      return SampleRoute(
        kind: kinds[kind], number: routesOfKind[kind], stations: stations,
        halfMinutes: (1..<length).map { _ in UInt8(2 + random.below(5)) })
    }
  }

  /// A trip: a single run of a vehicle along a route.
  struct Trip {
    var id: Int
    var route: Int
    var direction: Int
    var service: Int
    /// The time of departure from the first stop, in seconds of the day.
    var start: Int
    /// The number of stops: all of the route, or the first ones if too few stop times remain.
    var stopCount: Int
    /// Whether the vehicle is known to be wheelchair accessible.
    var isAccessible: Bool
    /// The block of trips that the vehicle runs, if known.
    var block: Int?
  }

  /// Calls `body` with each trip, in the order of ids.
  func forEachTrip(_ body: (Trip) throws(SampleFeedError) -> Void) throws(SampleFeedError) {
    var remaining = stopTimes
    var index = 0
    while remaining > 0 {
      let trip = trip(index, remaining: remaining)
      try body(trip)
      remaining -= trip.stopCount
      index += 1
    }
  }

  /// The number of trips.
  var tripCount: Int {
    var remaining = stopTimes
    var count = 0
    while remaining > 0 {
      remaining -= stopCount(ofTrip: count, remaining: remaining)
      count += 1
    }
    return count
  }

  private func route(ofTrip index: Int) -> Int {
    min(routes.count - 1, index * routes.count / plannedTripCount)
  }

  /// The number of stops of a trip: all stops of the route, or the remaining ones.
  ///
  /// It never leaves a single stop, which could not be a trip.
  private func stopCount(ofTrip index: Int, remaining: Int) -> Int {
    let full = routes[route(ofTrip: index)].stations.count
    guard remaining > full else { return remaining }
    return remaining == full + 1 ? full - 1 : full
  }

  private func trip(_ index: Int, remaining: Int) -> Trip {
    var random = SplitMix64(seed: seed, purpose: .trip, index: index)
    let route = route(ofTrip: index)
    // The first trip whose index gives this route, and the first trip of the next route.
    let first = (route * plannedTripCount + routes.count - 1) / routes.count
    let next = ((route + 1) * plannedTripCount + routes.count - 1) / routes.count
    // Departures are evenly distributed at full minutes, by day from 4:30 to 24:40, by night from 23:00 to 28:30. The
    // last route can get a few more trips than planned; they depart together with its last one.
    let (opening, closing) = routes[route].kind.isNight ? (82_800, 102_600) : (16_200, 88_800)
    let place = min(index, next - 1) - first
    let start = opening + (closing - opening) * (2 * place + 1) / (2 * (next - first))
    return Trip(
      id: 146_000_000 + 3 * index + random.below(3),
      route: route,
      direction: (index - first) % 2,
      service: 1 + random.below(serviceCount),
      start: start / 60 * 60,
      stopCount: stopCount(ofTrip: index, remaining: remaining),
      isAccessible: random.below(2) == 0,
      block: random.below(4) == 0 ? 1 + random.below(plannedTripCount) : nil)
  }
}
