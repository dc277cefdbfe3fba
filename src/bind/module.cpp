#include <nanobind/nanobind.h>

#include "../core/team.hpp"
#include "../simd/loops.hpp"

namespace nb = nanobind;

namespace earthdof {
void bind_extended(nb::module_& m);
void bind_glm(nb::module_& m);
void bind_mars(nb::module_& m);
void bind_procedures(nb::module_& m);
void bind_random(nb::module_& m);
}  // namespace earthdof

NB_MODULE(_core, m) {
  earthdof::choose_wanted_loops();
  m.doc() = "The compiled loops. Arguments are checked by the Python code around them, not here.";
  m.def("instructions", [] { return earthdof::loops().name; }, "The instruction set of the loops that run.");
  m.def(
      "use_instructions", [](const char* name) { return earthdof::choose_loops(name); }, nb::arg("name"),
      "Run the loops of another instruction set; False where there are none of this name.");
  m.def(
      "share_all_work", [](bool always) { earthdof::Team::shares_all = always; }, nb::arg("always"),
      "Let threads share even the shortest work, for tests.");
  earthdof::bind_extended(m);
  earthdof::bind_glm(m);
  earthdof::bind_mars(m);
  earthdof::bind_procedures(m);
  earthdof::bind_random(m);
}
