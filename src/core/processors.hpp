// Placement of new threads.
//
// The system may place a new thread on the processor of its creator, where it waits for milliseconds while other
// processors are idle: in a virtual machine, sleeping processors may appear busy. A call of this duration would run
// in a single thread.
#pragma once

#include <thread>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace earthdof {

// Processors available to the calling thread. No effect if they are unknown.
class Processors {
 public:
#if defined(__linux__)
  Processors() : known_(sched_getaffinity(0, sizeof all_, &all_) == 0) {}

  // Start a new thread on a processor other than that of the calling thread.
  void send_away(std::thread& thread) const {
    const int here = sched_getcpu();
    if (!known_ || here < 0 || here >= CPU_SETSIZE) return;
    cpu_set_t others = all_;
    CPU_CLR(here, &others);
    if (CPU_COUNT(&others) > 0) pthread_setaffinity_np(thread.native_handle(), sizeof others, &others);
  }

  // Let the system move the calling thread after it has started.
  void stay_anywhere() const {
    if (known_) sched_setaffinity(0, sizeof all_, &all_);
  }

 private:
  cpu_set_t all_;
  bool known_;
#else
  void send_away(std::thread&) const {}
  void stay_anywhere() const {}
#endif
};

}  // namespace earthdof
