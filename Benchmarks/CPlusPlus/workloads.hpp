// The workloads that the rivals in C++ take part in, the same as in Sources/SchedulerBenchmark/Workloads. A rival is a
// class with `independent(count, body)` and `run(graph, body)`, each of which builds, runs and frees.
//
// Usage of the programs: PROGRAM WORKLOAD COUNT. They print a line of JSON, with nanoseconds an operation.

#pragma once

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

// For each node those that it waits for, all of them earlier ones.
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
};

template <typename Rival>
double nanoseconds_each(const std::string &workload, int count, Rival &rival) {
  DependencyGraph graph;
  if (workload == "chain") graph = DependencyGraph::chain(count);
  if (workload == "grid") graph = DependencyGraph::grid(count);
  if (workload == "fan") graph = DependencyGraph::fan(count);
  std::atomic<int> ran{0};
  auto body = [&ran] { ran.fetch_add(1, std::memory_order_relaxed); };
  malloc_trim(0);
  const auto start = std::chrono::steady_clock::now();
  if (workload == "independent") {
    rival.independent(count, body);
  } else {
    rival.run(graph, body);
  }
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
  if (ran != count) {
    std::fprintf(stderr, "%d bodies ran in place of %d\n", ran.load(), count);
    std::exit(1);
  }
  return time.count() / count;
}

// A warm-up of a tenth, then small counts as often as makes a million, at most a hundred times and within a second.
template <typename Rival>
int measure(int argument_count, char **arguments) {
  const std::string workload = argument_count == 3 ? arguments[1] : "";
  const int count = argument_count == 3 ? std::atoi(arguments[2]) : 0;
  const char *const known[] = {"independent", "chain", "grid", "fan"};
  if (count < 1 || std::find(std::begin(known), std::end(known), workload) == std::end(known)) {
    std::fprintf(stderr, "usage: %s independent|chain|grid|fan COUNT\n", arguments[0]);
    return 2;
  }
  Rival rival;
  nanoseconds_each(workload, std::max(1000, count / 10), rival);
  std::printf("{\"figures\":{},\"samples\":[");
  const int repetitions = std::max(1, std::min(100, 1'000'000 / count));
  double spent = 0;
  for (int repetition = 0; repetition < repetitions && spent < 1e9; ++repetition) {
    const double each = nanoseconds_each(workload, count, rival);
    spent += each * count;
    std::printf("%s%.3f", repetition == 0 ? "" : ",", each);
  }
  std::printf("],\"series\":[]}\n");
  return 0;
}
