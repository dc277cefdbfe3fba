// R's random numbers for Python.
#include <nanobind/nanobind.h>

#include "../random/normals.hpp"
#include "arrays.hpp"
#include "calls.hpp"

namespace earthdof {

void bind_random(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Twister>(m, "Twister", "R's Mersenne-Twister after set.seed(seed).")
      .def(nb::init<std::uint32_t>(), "seed"_a)
      .def("__copy__", [](const Twister& self) { return Twister(self); })
      .def("skip", &Twister::skip, "count"_a, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "words",
          [](Twister& self, std::size_t n) {
            Out<std::uint32_t> values = make_array<std::uint32_t>({n});
            for (std::size_t i = 0; i < n; ++i) values.data()[i] = self.next();
            return values;
          },
          "n"_a)
      .def(
          "normals",
          [](Twister& self, std::size_t n, int n_threads) {
            Out<double> values = make_array<double>({n});
            in_threads(n_threads, [&](Team& team) {
              draw_normals(self, values.data(), n, team);
              return 0;
            });
            return values;
          },
          "n"_a, "n_threads"_a = 1);
}

}  // namespace earthdof
