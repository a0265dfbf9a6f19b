/// The names of places in a sample feed: none exists, but all could.
///
/// About half have umlauts, most have a comma, some have quotes. A name follows from the number of the place.
struct SampleNames {
  let seed: UInt64

  private static let beginnings = [
    "Grün", "Schön", "Mühlen", "Linden", "Rüders", "Hasel", "Königs", "Birken", "Föhren", "Erlen", "Weißen", "Kölp",
    "Buchen", "Fichten", "Päwes", "Höhen",
  ]
  private static let townEndings = [
    "hagen", "werder", "fließ", "rade", "dorf", "berg", "felde", "see", "münde", "horst", "höhe", "brück", "lake",
    "walde", "hain", "lüch",
  ]
  private static let streetEndings = ["str.", "weg", "allee", "damm", "ufer", "platz", "gasse", "steig"]
  private static let houses = [
    "Gasthaus \"Zum Löwen\"", "Kita \"Spatzennest\"", "Siedlung \"Süd\"", "Gaststätte \"Zur alten Mühle\"",
    "Schule \"Am Fließ\"", "Café \"Möwe\"",
  ]
  private static let squares = ["Am Weißen Tor", "Markt", "Kirche", "Feuerwehr", "Ärztehaus", "Friedhof", "Dorfplatz"]

  /// Appends the name of a station in a town.
  func appendStation(_ station: Int, town: Int, to name: inout [UInt8]) {
    var random = SplitMix64(seed: seed, purpose: .name, index: station)
    switch random.below(32) {
    case 0...3:
      name += ["S ", "U ", "S+U ", "S "][random.below(4)].utf8
      appendPlace(endings: Self.townEndings, random: &random, to: &name)
      name += " (".utf8
      appendTown(town, to: &name)
      name.append(UInt8(ascii: ")"))
    case 4...17:
      appendTown(town, to: &name)
      name += ", ".utf8
      appendPlace(endings: Self.streetEndings, random: &random, to: &name)
    case 18...24:
      appendPlace(endings: Self.streetEndings, random: &random, to: &name)
      name.append(UInt8(ascii: "/"))
      appendPlace(endings: Self.streetEndings, random: &random, to: &name)
    case 25...27:
      appendTown(town, to: &name)
      name += ", ".utf8
      name += random.element(of: Self.houses).utf8
    case 28...29:
      name += random.element(of: Self.houses).utf8
    default:
      appendTown(town, to: &name)
      name += ", ".utf8
      name += random.element(of: Self.squares).utf8
    }
  }

  /// Appends the name of a town.
  func appendTown(_ town: Int, to name: inout [UInt8]) {
    var random = SplitMix64(seed: seed, purpose: .town, index: town)
    appendPlace(endings: Self.townEndings, random: &random, to: &name)
  }

  private func appendPlace(endings: [String], random: inout SplitMix64, to name: inout [UInt8]) {
    name += random.element(of: Self.beginnings).utf8
    name += random.element(of: endings).utf8
  }
}
