// Where a new thread begins.
//
// The system may put it beside the thread that made it and leave it waiting there for milliseconds, while other
// processors have nothing to do: in a virtual machine those that sleep may pass for busy. A call that takes so long as
// a whole would run in one thread.
#pragma once

#include <thread>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace earthdof {

// The processors that the calling thread may run on. Nothing happens where they are not known.
class Processors {
 public:
#if defined(__linux__)
  Processors() : known_(sched_getaffinity(0, sizeof all_, &all_) == 0) {}

  // Have a new thread begin on another processor than the one of the calling thread, which made it.
  void send_away(std::thread& thread) const {
    const int here = sched_getcpu();
    if (!known_ || here < 0 || here >= CPU_SETSIZE) return;
    cpu_set_t others = all_;
    CPU_CLR(here, &others);
    if (CPU_COUNT(&others) > 0) pthread_setaffinity_np(thread.native_handle(), sizeof others, &others);
  }

  // The calling thread has begun: from here on it runs where the system wants.
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
