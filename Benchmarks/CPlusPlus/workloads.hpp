// The workloads for the rivals in C++, which are the same as in Sources/SchedulerBenchmark/Workloads. A rival is a
// class with `independent(count, body)` and `run(graph, body)`. Each method builds, runs and frees. It also has a class
// `Graph<Body>`, which is created from the rival, a graph and a body. Its `run()` runs the existing graph again.
//
// Usage of the programs: PROGRAM WORKLOAD COUNT. They print a line of JSON, with nanoseconds per operation.

#pragma once

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

// For each node, the nodes that it waits for, all of them earlier ones.
struct DependencyGraph {
  std::vector<int> edges;
  std::vector<std::size_t> ends;

  void add_node(const std::vector<int> &dependencies) {
    edges.insert(edges.end(), dependencies.begin(), dependencies.end());
    ends.push_back(edges.size());
  }

  std::size_t node_count() const { return ends.size(); }

  template <typename Visit>
  void for_each_dependency(std::size_t node, Visit visit) const {
    for (std::size_t edge = node == 0 ? 0 : ends[node - 1]; edge < ends[node]; ++edge) visit(edges[edge]);
  }

  static DependencyGraph chain(int count) {
    DependencyGraph graph;
    if (count > 0) graph.add_node({});
    for (int node = 1; node < count; ++node) graph.add_node({node - 1});
    return graph;
  }

  static DependencyGraph grid(int count, int width = 100) {
    DependencyGraph graph;
    for (int node = 0; node < count; ++node) {
      std::vector<int> dependencies;
      const int before = (node / width - 1) * width, column = node % width;
      for (int side = -1; before >= 0 && side <= 1; ++side) {
        dependencies.push_back(before + (column + side + width) % width);
      }
      graph.add_node(dependencies);
    }
    return graph;
  }

  static DependencyGraph fan(int count) {
    DependencyGraph graph;
    std::vector<int> middle;
    graph.add_node({});
    for (int node = 1; node < count - 1; ++node) {
      graph.add_node({0});
      middle.push_back(node);
    }
    graph.add_node(middle);
    return graph;
  }

  // Each node waits for up to `most` different nodes, chosen at random among the `reach` before it.
  static DependencyGraph random(int count, int most = 4, int reach = 1000) {
    std::mt19937_64 generator(42);
    DependencyGraph graph;
    for (int node = 0; node < count; ++node) {
      const int wanted = node == 0 ? 0 : generator() % (most + 1), width = std::min(node, reach);
      std::vector<int> dependencies;
      for (int index = 0; index < wanted; ++index) dependencies.push_back(node - 1 - generator() % width);
      std::sort(dependencies.begin(), dependencies.end());
      dependencies.erase(std::unique(dependencies.begin(), dependencies.end()), dependencies.end());
      graph.add_node(dependencies);
    }
    return graph;
  }

  // The graph for the name of a workload: `chain`, `graph-chain`, `graph-again-chain`.
  static DependencyGraph named(const std::string &workload, int count) {
    const std::string shape = workload.substr(workload.rfind('-') + 1);
    if (shape == "chain") return chain(count);
    if (shape == "grid") return grid(count);
    if (shape == "fan") return fan(count);
    return shape == "random" ? random(count) : DependencyGraph();
  }
};

inline void require(int ran, int count) {
  if (ran == count) return;
  std::fprintf(stderr, "%d bodies ran instead of %d\n", ran, count);
  std::exit(1);
}

template <typename Run>
double nanoseconds_each(int count, Run run) {
  malloc_trim(0);
  const auto start = std::chrono::steady_clock::now();
  run();
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
  return time.count() / count;
}

// Builds, runs and frees.
template <typename Rival>
double nanoseconds_each(const std::string &workload, int count, Rival &rival) {
  const DependencyGraph graph = DependencyGraph::named(workload, count);
  std::atomic<int> ran{0};
  auto body = [&ran] { ran.fetch_add(1, std::memory_order_relaxed); };
  const double each = nanoseconds_each(count, [&] {
    if (workload == "independent") {
      rival.independent(count, body);
    } else {
      rival.run(graph, body);
    }
  });
  require(ran, count);
  return each;
}

// After a warm-up of a tenth of the count, small counts are repeated until a million operations are done, at most a
// hundred times and within a second.
template <typename Rival>
int measure(int argument_count, char **arguments) {
  const std::string workload = argument_count == 3 ? arguments[1] : "";
  const int count = argument_count == 3 ? std::atoi(arguments[2]) : 0;
  const std::string workloads = " independent chain grid fan graph-chain graph-grid graph-random graph-again-chain "
                                "graph-again-grid graph-again-random ";
  if (count < 1 || workloads.find(" " + workload + " ") == std::string::npos) {
    std::fprintf(stderr, "usage: %s WORKLOAD COUNT\nworkloads:%s\n", arguments[0], workloads.c_str());
    return 2;
  }
  Rival rival;
  const DependencyGraph description = DependencyGraph::named(workload, count);
  const bool is_again = workload.rfind("graph-again-", 0) == 0;
  std::atomic<int> ran{0};
  auto body = [&ran] { ran.fetch_add(1, std::memory_order_relaxed); };
  typename Rival::template Graph<decltype(body)> graph(rival, is_again ? description : DependencyGraph(), body);
  if (is_again) {
    graph.run();
  } else {
    nanoseconds_each(workload, std::max(1000, count / 10), rival);
  }
  std::printf("{\"figures\":{},\"samples\":[");
  const int repetitions = std::max(1, std::min(100, 1'000'000 / count));
  double spent = 0;
  for (int repetition = 0; repetition < repetitions && spent < 1e9; ++repetition) {
    ran = 0;
    const double each =
        is_again ? nanoseconds_each(count, [&] { graph.run(); }) : nanoseconds_each(workload, count, rival);
    if (is_again) require(ran, count);
    spent += each * count;
    std::printf("%s%.3f", repetition == 0 ? "" : ",", each);
  }
  std::printf("],\"series\":[]}\n");
  return 0;
}
