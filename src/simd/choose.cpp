// Which version of the loops runs here.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "loops.hpp"

namespace earthdof {

namespace plain {
extern const Loops kLoops;
}
#ifdef EARTHDOF_X86
namespace sse2 {
extern const Loops kLoops;
}
namespace avx2 {
extern const Loops kLoops;
}
namespace avx512 {
extern const Loops kLoops;
}
#endif

namespace {

std::atomic<const Loops*> chosen{nullptr};

// The versions that this processor can run, the widest first.
const std::vector<const Loops*>& runnable() {
  static const std::vector<const Loops*> found = [] {
    std::vector<const Loops*> versions;
#ifdef EARTHDOF_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
      versions.push_back(&avx512::kLoops);
    if (__builtin_cpu_supports("avx2")) versions.push_back(&avx2::kLoops);
    versions.push_back(&sse2::kLoops);
#endif
    versions.push_back(&plain::kLoops);
    return versions;
  }();
  return found;
}

}  // namespace

bool choose_loops(const char* name) {
  for (const Loops* version : runnable())
    if (std::strcmp(version->name, name) == 0) {
      chosen = version;
      return true;
    }
  return false;
}

void choose_wanted_loops() {
  const char* wanted = std::getenv("PYEARTHDOF_INSTRUCTIONS");
  if (wanted == nullptr || choose_loops(wanted)) return;
  std::string names;
  for (const Loops* version : runnable()) names += std::string(names.empty() ? "" : ", ") + version->name;
  throw std::invalid_argument(std::string("PYEARTHDOF_INSTRUCTIONS=") + wanted +
                              " but it should be one that this processor has: " + names);
}

const Loops& loops() {
  const Loops* found = chosen;
  if (found == nullptr) chosen = found = runnable().front();
  return *found;
}

}  // namespace earthdof
