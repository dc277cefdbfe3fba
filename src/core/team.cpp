#include "team.hpp"

#include <algorithm>
#include <exception>
#include <system_error>

#include "processors.hpp"

namespace earthdof {

namespace {

// Waking a sleeping thread takes microseconds, starting and joining one some tens of them. Rounds are shared, and
// threads started, only if this saves more time than it costs.
constexpr double kWorthWaking = 60e-6, kWorthStarting = 200e-6;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

}  // namespace

Team::Team(int n_threads, Patience* patience) : patience_(patience), size_(n_threads > 1 ? n_threads : 1) {}

void Team::start() {
  const Processors processors;
  threads_.reserve(static_cast<std::size_t>(size_) - 1);
  for (int thread = 1; thread < size_; ++thread) {
    try {
      threads_.emplace_back([this, thread, processors] {
        processors.stay_anywhere();
        serve(thread);
      });
    } catch (const std::system_error&) {
      // limit on processes or memory: continue with the threads already started
      if (threads_.empty()) size_ = 1;
      return;
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

// True if sharing work of this duration pays off. Savings missed so far are credited to a start: a call with many short
// rounds eventually starts its threads, one with few rounds never does.
bool Team::pays(double seconds) const {
  if (shares_all) return true;
  if (seconds < kWorthWaking) return false;
  return !threads_.empty() || missed_ + saving(seconds) > kWorthStarting;
}

double Team::saving(double seconds) const { return seconds * (size_ - 1) / size_; }

void Team::share(std::size_t count, const Job& job, double seconds) {
  const Clock::time_point began = Clock::now();
  std::size_t done = 0;
  bool shared = pays(std::max(seconds, job_seconds_ * static_cast<double>(count)));
  while (!shared && done < count) {
    job(done++, 0);
    check();
    job_seconds_ = seconds_since(began) / static_cast<double>(done);
    shared = done + 1 < count && pays(job_seconds_ * static_cast<double>(count - done));
  }
  if (shared) {
    if (threads_.empty()) start();
    const Clock::time_point from = Clock::now();
    share_from(done, count, job);
    job_seconds_ = seconds_since(from) * size_ / static_cast<double>(count - done);
  } else if (job_seconds_ * static_cast<double>(count) > kWorthWaking) {
    missed_ += saving(job_seconds_ * static_cast<double>(count));
  }
}

void Team::share_from(std::size_t first, std::size_t count, const Job& job) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    job_ = &job;
    count_ = count;
    next_ = first;
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
  job_ = nullptr;  // all jobs are taken: do not wait for threads that wake now
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
