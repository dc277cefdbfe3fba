// Threads that share the work of one call and end with it. They start when work is found that is worth it.
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

// Thrown by the calling thread where the user pressed Ctrl-C.
struct Interrupted {};

// Asks now and then whether to stop. Only the calling thread may ask.
class Patience {
 public:
  virtual ~Patience() = default;
  virtual bool is_over() = 0;
};

// A number of threads, the calling one among them. Which thread takes which job does not matter to any
// result: each job writes to places of its own.
class Team {
 public:
  using Job = std::function<void(std::size_t, int)>;

  Team(int n_threads, Patience* patience);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // The threads at the most, by which jobs are numbered.
  int size() const { return size_; }

  // Whether even the shortest work is shared, so that tests find what threads do wrong.
  static inline std::atomic<bool> shares_all{false};

  // job(i, thread) for all i below count. Throws Interrupted, or what a job threw. The jobs should take about equally
  // long, and `seconds` all of them, where that is known to be long. Where it is not, the calling thread begins alone,
  // and the others come when what is left is worth waking them.
  template <class Work>
  void run(std::size_t count, Work&& job, double seconds = 0.0) {
    if (size_ > 1 && count > 1) return share(count, job, seconds);
    for (std::size_t i = 0; i < count; ++i) {
      job(i, 0);
      check();
    }
  }

  // Throws Interrupted if the user wants to stop.
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
  double job_seconds_ = 0.0;  // of a job of the last round
  double missed_ = 0.0;       // seconds that threads would have saved so far
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const Job* job_ = nullptr;  // none between the rounds
  std::size_t count_ = 0;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::exception_ptr error_;
  std::size_t round_ = 0;
  int busy_ = 0;  // threads that took part in this round and have not ended it
  bool ends_ = false;
};

}  // namespace earthdof
