import Headway

/// The positions and the numeric ids of the stops of a sample feed.
///
/// Stations are on a grid, each at a random position in its cell. The neighbor of a station is therefore near, and a
/// route can go from one station to the next. No data is stored per station: its position and ids follow from its
/// number.
struct SampleGeography {
  let seed: UInt64
  let stationCount: Int
  /// The number of stations in a row of the grid, from west to east; the last row can have fewer.
  let columns: Int
  /// The number of stations, from the first on, that have a third platform.
  private let largeStationCount: Int
  private let cellWidth: Int
  private let cellHeight: Int
  private let west: Int
  private let south: Int

  /// Distributes the stops: a station and two platforms use three, and the remaining stops become third platforms.
  init(stopCount: Int, seed: UInt64) {
    require(stopCount >= 9, "A sample feed with \(stopCount) stops was requested: use 9 or more.")
    self.seed = seed
    stationCount = stopCount / 3
    largeStationCount = stopCount % 3
    // Berlin is about 50 km wide from west to east and 40 km high from south to north.
    columns = max(1, integerSquareRoot(stationCount * 5 / 4))
    let rows = (stationCount + columns - 1) / columns
    // In millionths of a degree. Cells are at most about 600 m wide and high, so that a small feed is a small town.
    cellWidth = min(740_000 / columns, 9_000)
    cellHeight = min(360_000 / rows, 5_500)
    west = 13_405_000 - columns * cellWidth / 2
    south = 52_520_000 - rows * cellHeight / 2
  }

  func platformCount(of station: Int) -> Int {
    station < largeStationCount ? 3 : 2
  }

  func stationID(_ station: Int) -> Int {
    900_000_100_003 + 7 * station
  }

  /// The id of a platform.
  ///
  /// Platforms are counted from 1.
  func platformID(_ station: Int, _ platform: Int) -> Int {
    100_000_100_000 + 100 * station + platform
  }

  /// Latitude and longitude in millionths of a degree.
  func position(of station: Int) -> (latitude: Int, longitude: Int) {
    var random = SplitMix64(seed: seed, purpose: .place, index: station)
    return (
      south + station / columns * cellHeight + random.below(cellHeight),
      west + station % columns * cellWidth + random.below(cellWidth)
    )
  }

  /// Latitude and longitude of a platform: a few meters from the center of its station.
  func position(of station: Int, platform: Int) -> (latitude: Int, longitude: Int) {
    let middle = position(of: station)
    return (middle.latitude + 40 * platform - 60, middle.longitude + 70 * platform - 105)
  }

  /// The town of a station: a block of the grid.
  func town(of station: Int) -> Int {
    station / columns / 9 * 1000 + station % columns / 11
  }

  /// A path over the grid.
  ///
  /// It is usually straight, and turns back only if there is no other way.
  func walk(stations: Int, random: inout SplitMix64) -> [Int32] {
    var station = random.below(stationCount)
    var heading = random.below(4)
    var way = [Int32(station)]
    while way.count < stations {
      let turn = [1, 3, 0, 0, 0, 0, 0, 0][random.below(8)]
      for choice in [turn, 0, 1, 3, 2] {
        guard let next = neighbour(of: station, towards: (heading + choice) % 4) else { continue }
        station = next
        heading = (heading + choice) % 4
        break
      }
      way.append(Int32(station))
    }
    return way
  }

  /// The station in the next cell north (0), east (1), south (2) or west (3).
  private func neighbour(of station: Int, towards heading: Int) -> Int? {
    let next: Int
    switch heading {
    case 0: next = station + columns
    case 1: next = station % columns == columns - 1 ? -1 : station + 1
    case 2: next = station - columns
    default: next = station % columns == 0 ? -1 : station - 1
    }
    return next >= 0 && next < stationCount ? next : nil
  }
}

/// The largest whole number whose square does not exceed `number`.
///
/// Computed with integers, so that the feed does not depend on a platform's floating-point arithmetic.
func integerSquareRoot(_ number: Int) -> Int {
  var root = 0
  while (root + 1) * (root + 1) <= number { root += 1 }
  return root
}
