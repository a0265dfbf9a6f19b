// Taskflow: a task graph for both kinds of work, on an existing executor, which is how users of the library run it.

#include <taskflow/taskflow.hpp>

#include "workloads.hpp"

struct Taskflow {
  tf::Executor executor;

  template <typename Body>
  void independent(int count, Body body) {
    tf::Taskflow taskflow;
    for (int index = 0; index < count; ++index) taskflow.emplace(body);
    executor.run(taskflow).wait();
  }

  template <typename Body>
  struct Graph {
    tf::Executor &executor;
    tf::Taskflow taskflow;

    Graph(Taskflow &rival, const DependencyGraph &graph, Body body) : executor(rival.executor) {
      std::vector<tf::Task> tasks;
      tasks.reserve(graph.node_count());
      for (std::size_t node = 0; node < graph.node_count(); ++node) {
        tasks.push_back(taskflow.emplace(body));
        graph.for_each_dependency(node, [&](int dependency) { tasks[dependency].precede(tasks.back()); });
      }
    }

    void run() { executor.run(taskflow).wait(); }
  };

  template <typename Body>
  void run(const DependencyGraph &graph, Body body) {
    Graph<Body>(*this, graph, body).run();
  }
};

int main(int argument_count, char **arguments) { return measure<Taskflow>(argument_count, arguments); }
