// Choice of the version of the loops for this processor.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "loops.hpp"

#ifdef EARTHDOF_X86
#include <cpuid.h>
#endif

namespace earthdof {

namespace plain {
extern const Loops kLoops;
}
#ifdef EARTHDOF_ARM
namespace neon {
extern const Loops kLoops;
}
#endif
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

#ifdef EARTHDOF_X86
struct Processor {
  bool has_avx2 = false, has_avx512 = false;
};

// Uses cpuid: __builtin_cpu_supports requires a part of the compiler's library that older systems lack.
Processor ask_processor() {
  constexpr unsigned kSavesVectors = 1u << 27, kAvx = 1u << 28;                        // leaf 1, ecx
  constexpr unsigned kAvx2 = 1u << 5, kAvx512 = (1u << 16) | (1u << 17) | (1u << 31);  // leaf 7, ebx: F, DQ, VL
  constexpr unsigned kYmm = 0x6, kZmm = 0xe6;  // registers that the system saves
  Processor processor;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c & kSavesVectors) == 0 || (c & kAvx) == 0) return processor;
  unsigned saved = 0, high = 0;
  __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  if ((saved & kYmm) != kYmm || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return processor;
  processor.has_avx2 = (b & kAvx2) != 0;
  processor.has_avx512 = (b & kAvx512) == kAvx512 && (saved & kZmm) == kZmm;
  return processor;
}
#endif

// Versions that this processor can run, the widest first.
const std::vector<const Loops*>& runnable() {
  static const std::vector<const Loops*> found = [] {
    std::vector<const Loops*> versions;
#ifdef EARTHDOF_X86
    const Processor processor = ask_processor();
    if (processor.has_avx512) versions.push_back(&avx512::kLoops);
    if (processor.has_avx2) versions.push_back(&avx2::kLoops);
    versions.push_back(&sse2::kLoops);
#endif
#ifdef EARTHDOF_ARM
    versions.push_back(&neon::kLoops);  // part of every 64-bit ARM
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
