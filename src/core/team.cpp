#include "team.hpp"

#include <exception>
#include <system_error>

#include "processors.hpp"

namespace earthdof {

Team::Team(int n_threads, Patience* patience) : patience_(patience) {
  if (n_threads < 2) return;
  const Processors processors;
  threads_.reserve(static_cast<std::size_t>(n_threads) - 1);
  for (int thread = 1; thread < n_threads; ++thread) {
    try {
      threads_.emplace_back([this, thread, processors] {
        processors.stay_anywhere();
        serve(thread);
      });
    } catch (const std::system_error&) {
      return;  // a limit on processes or memory: go on with the threads that have started
    }
    processors.send_away(threads_.back());
  }
}

Team::~Team() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::share(std::size_t count, const Job& job) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    job_ = &job;
    count_ = count;
    next_ = 0;
    stop_ = false;
    error_ = nullptr;
    ++round_;
  }
  wake_.notify_all();
  bool interrupted = false;
  try {
    for (std::size_t i = next_++; i < count && !stop_; i = next_++) {
      job(i, 0);
      check();
    }
  } catch (const Interrupted&) {
    stop_ = interrupted = true;
  } catch (...) {
    stop_ = true;
    std::lock_guard<std::mutex> lock(mutex_);
    error_ = std::current_exception();
  }
  std::unique_lock<std::mutex> lock(mutex_);
  job_ = nullptr;  // all jobs are taken: a thread that wakes now is not waited for
  done_.wait(lock, [this] { return busy_ == 0; });
  if (interrupted) throw Interrupted{};
  if (error_) std::rethrow_exception(error_);
}

void Team::serve(int thread) {
  std::size_t seen = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return ends_ || round_ != seen; });
    if (ends_) return;
    seen = round_;
    if (job_ == nullptr) continue;
    ++busy_;
    const Job& job = *job_;
    const std::size_t count = count_;
    lock.unlock();
    work(job, count, thread);
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

void Team::work(const Job& job, std::size_t count, int thread) {
  try {
    for (std::size_t i = next_++; i < count && !stop_; i = next_++) job(i, thread);
  } catch (...) {
    stop_ = true;
    std::lock_guard<std::mutex> lock(mutex_);
    if (!error_) error_ = std::current_exception();
  }
}

}  // namespace earthdof
