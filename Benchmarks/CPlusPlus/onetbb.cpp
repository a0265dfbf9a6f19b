// oneTBB: a task group for independent work, a flow graph for dependencies.

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/task_group.h>

#include <deque>

#include "workloads.hpp"

namespace flow = oneapi::tbb::flow;

struct OneTBB {
  template <typename Body>
  void independent(int count, Body body) {
    oneapi::tbb::task_group group;
    for (int index = 0; index < count; ++index) group.run(body);
    group.wait();
  }

  template <typename Body>
  struct Graph {
    using Node = flow::continue_node<flow::continue_msg>;
    flow::graph graph;
    std::deque<Node> nodes;  // Nodes can't be moved.
    std::vector<Node *> first;

    Graph(OneTBB &, const DependencyGraph &description, Body body) {
      for (std::size_t node = 0; node < description.node_count(); ++node) {
        nodes.emplace_back(graph, [body](const flow::continue_msg &) { body(); });
        bool waits = false;
        description.for_each_dependency(node, [&](int dependency) {
          flow::make_edge(nodes[dependency], nodes.back());
          waits = true;
        });
        if (!waits) first.push_back(&nodes.back());
      }
    }

    void run() {
      for (Node *node : first) node->try_put(flow::continue_msg());
      graph.wait_for_all();
    }
  };

  template <typename Body>
  void run(const DependencyGraph &description, Body body) {
    Graph<Body>(*this, description, body).run();
  }
};

int main(int argument_count, char **arguments) { return measure<OneTBB>(argument_count, arguments); }
