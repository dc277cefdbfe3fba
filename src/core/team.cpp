#include "team.hpp"

#include <exception>

namespace earthdof {

Team::Team(int n_threads, Patience* patience) : patience_(patience) {
  for (int thread = 1; thread < n_threads; ++thread) threads_.emplace_back([this, thread] { serve(thread); });
}

Team::~Team() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::share(std::size_t count, const std::function<void(std::size_t, int)>& job) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    job_ = &job;
    count_ = count;
    next_ = 0;
    stop_ = false;
    error_ = nullptr;
    busy_ = static_cast<int>(threads_.size());
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
  done_.wait(lock, [this] { return busy_ == 0; });
  if (interrupted) throw Interrupted{};
  if (error_) std::rethrow_exception(error_);
}

void Team::serve(int thread) {
  std::size_t seen = 0;
  while (true) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [&] { return ends_ || round_ != seen; });
      if (ends_) return;
      seen = round_;
    }
    work(thread);
    std::lock_guard<std::mutex> lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

void Team::work(int thread) {
  try {
    for (std::size_t i = next_++; i < count_ && !stop_; i = next_++) (*job_)(i, thread);
  } catch (...) {
    stop_ = true;
    std::lock_guard<std::mutex> lock(mutex_);
    if (!error_) error_ = std::current_exception();
  }
}

}  // namespace earthdof
