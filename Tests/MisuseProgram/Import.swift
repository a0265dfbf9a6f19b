#if SQLite
import HeadwayImport

let misusesOfImport = [
  Misuse("import: batch size", "ImportOptions", "batchSize is 0", "1 or more") { _ = ImportOptions(batchSize: 0) },
  Misuse("import: batch size that is set", "ImportOptions", "batchSize is -1", "1 or more") {
    var options = ImportOptions()
    options.batchSize = -1
  },
  Misuse("import: separators", "NumberFormat", "“,”", "another character") {
    _ = NumberFormat(decimalSeparator: ",", groupSeparator: ",")
  },
]
#else
let misusesOfImport: [Misuse] = []
#endif
