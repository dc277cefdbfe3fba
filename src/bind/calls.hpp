// Calls from Python: without the GIL, in threads, interruptible by Ctrl-C.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

#include "../core/team.hpp"

namespace earthdof {

// Lets Python check for signals periodically. A signal handler that raises ends the call.
class Signals : public Patience {
 public:
  bool is_over() override {
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ < std::chrono::milliseconds(50)) return false;
    asked_ = now;
    nanobind::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
  }

 private:
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
};

// Call work(team) without the GIL.
template <class Work>
auto in_threads(int n_threads, Work&& work) {
  try {
    nanobind::gil_scoped_release release;
    Signals signals;
    Team team(n_threads, &signals);
    return work(team);
  } catch (const Interrupted&) {
    throw nanobind::python_error();
  }
}

}  // namespace earthdof
