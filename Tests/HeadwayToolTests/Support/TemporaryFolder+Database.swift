#if SQLite
import Foundation
import GRDB
import HeadwayTestSupport

extension TemporaryFolder {
  /// The result of a query of a database in the folder, with values as text.
  func query(_ sql: String, in database: String) throws -> [[String?]] {
    let connection = try DatabaseQueue(path: "\(path)/\(database)")
    defer { try? connection.close() }
    return try connection.read { connection in
      try Row.fetchAll(connection, sql: sql).map { row in
        row.databaseValues.map { $0.isNull ? nil : String.fromDatabaseValue($0) ?? "\($0)" }
      }
    }
  }

  /// Changes a database in the folder, or creates one.
  func execute(_ sql: String, in database: String) throws {
    let connection = try DatabaseQueue(path: "\(path)/\(database)")
    defer { try? connection.close() }
    try connection.writeWithoutTransaction { try $0.execute(sql: sql) }
  }

  func rowCount(of table: String, in database: String) throws -> Int {
    Int(try query("SELECT COUNT(*) FROM \"\(table)\"", in: database).first?.first.flatMap { $0 } ?? "") ?? -1
  }
}

/// A feed of the required files only: 2 stops, 1 route, 1 trip, 2 stop times.
extension TemporaryFolder {
  func writeSmallFeed(to folder: String, stopTimes: String = "t1,08:00:00,08:00:00,s1,1\nt1,08:05:00,08:05:00,s2,2\n")
    throws
  {
    let files = [
      "agency": "agency_id,agency_name,agency_url,agency_timezone\na,A,https://a.example,Europe/Berlin\n",
      "stops": "stop_id,stop_name,stop_lat,stop_lon\ns1,Nöldnerplatz,52.5,13.4\ns2,\"Ostkreuz, S\",52.6,13.5\n",
      "routes": "route_id,agency_id,route_short_name,route_type\nr1,a,S3,109\n",
      "calendar":
        "service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date\n"
        + "w,1,1,1,1,1,0,0,20260101,20261231\n",
      "trips": "route_id,service_id,trip_id\nr1,w,t1\n",
      "stop_times": "trip_id,arrival_time,departure_time,stop_id,stop_sequence\n" + stopTimes,
    ]
    for (name, text) in files { try write(text, to: "\(folder)/\(name).txt") }
  }
}
#endif
