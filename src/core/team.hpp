// Threads that share the work of one call and end with it. They are started once the work justifies it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace earthdof {

// Thrown by the calling thread after Ctrl-C.
struct Interrupted {};

// Checks periodically for an interrupt. Only the calling thread may check.
class Patience {
 public:
  virtual ~Patience() = default;
  virtual bool is_over() = 0;
};

// A team of threads, including the calling one. Results do not depend on the assignment of jobs to threads: each job
// writes to its own memory.
class Team {
 public:
  using Job = std::function<void(std::size_t, int)>;

  Team(int n_threads, Patience* patience);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Maximum number of threads; thread indices in jobs are below it.
  int size() const { return size_; }

  // Share even the shortest work, for tests of thread safety.
  static inline std::atomic<bool> shares_all{false};

  // Call job(i, thread) for all i below count. Throws Interrupted, or the exception of a job. Jobs should take about
  // the same time; `seconds` is their total time if known to be long. Otherwise, the calling thread starts alone, and
  // the others are woken once the remaining work justifies it.
  template <class Work>
  void run(std::size_t count, Work&& job, double seconds = 0.0) {
    if (size_ > 1 && count > 1) return share(count, job, seconds);
    for (std::size_t i = 0; i < count; ++i) {
      job(i, 0);
      check();
    }
  }

  // Throws Interrupted if Ctrl-C was pressed.
  void check() {
    if (patience_ != nullptr && patience_->is_over()) throw Interrupted{};
  }

 private:
  void share(std::size_t count, const Job& job, double seconds);
  void share_from(std::size_t first, std::size_t count, const Job& job);
  bool pays(double seconds) const;
  double saving(double seconds) const;
  void start();
  void serve(int thread);
  void work(const Job& job, std::size_t count, int thread);

  Patience* patience_;
  int size_;
  double job_seconds_ = 0.0;  // per job of the last round
  double missed_ = 0.0;       // seconds that threads could have saved so far
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const Job* job_ = nullptr;  // null between rounds
  std::size_t count_ = 0;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::exception_ptr error_;
  std::size_t round_ = 0;
  int busy_ = 0;  // threads still working in this round
  bool ends_ = false;
};

}  // namespace earthdof
