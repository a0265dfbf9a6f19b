// Makes programming errors, so that script/check-misuse can read the messages of a release build.
//
//     MisuseProgram         prints a line for each error: its name, and the words that its message contains
//     MisuseProgram NAME makes this error; returns from main only if the error does not stop the process

let misuses =
  misusesOfOperations + misusesOfFiles + misusesOfImport + misusesOfDrawing + misusesOfMetrics + misusesOfJobs

if CommandLine.arguments.count == 1 {
  for misuse in misuses { print(([misuse.name] + misuse.words).joined(separator: "\t")) }
} else if let misuse = misuses.first(where: { $0.name == CommandLine.arguments[1] }) {
  try await misuse.commit()
  print("Nothing has stopped the process.")
} else {
  fatalError("There is no programming error named \(CommandLine.arguments[1]).")
}
