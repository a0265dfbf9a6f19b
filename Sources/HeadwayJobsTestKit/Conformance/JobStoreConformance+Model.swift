extension JobStoreConformance {
  static let model = [
    JobStoreCheck("J179: the store gives the same answers to random commands as the model, and has the same jobs") {
      probe in
      try await JobStoreModel(probe.fixture).run(programs: 20, commands: 200, seed: 1)
    }
  ]
}
