// R's random numbers for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include "../random/normals.hpp"
#include "arrays.hpp"
#include "calls.hpp"

namespace earthdof {

void bind_random(nb::module_& m) {
  using namespace nb::literals;
  m.def("normal_quantile", &normal_quantile, "p"_a);
  nb::class_<Twister>(m, "Twister", "R's Mersenne-Twister after set.seed(seed).")
      .def(nb::init<std::uint32_t>(), "seed"_a)
      .def(
          "__deepcopy__", [](const Twister& self, nb::handle) { return Twister(self); }, "memo"_a)
      .def("__getstate__",
           [](const Twister& self) {
             return std::make_tuple(copied<std::uint32_t>(self.words(), {Twister::kWords}), self.position());
           })
      .def("__setstate__",
           [](Twister& self, const std::tuple<In1<std::uint32_t>, std::size_t>& state) {
             if (std::get<0>(state).shape(0) != Twister::kWords) throw nb::value_error("the state should be 624 words");
             new (&self) Twister(0);
             self.restore(std::get<0>(state).data(), std::get<1>(state));
           })
      .def("skip", &Twister::skip, "count"_a, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "words",
          [](Twister& self, std::size_t n) {
            Out<std::uint32_t> values = make_array<std::uint32_t>({n});
            self.draw(values.data(), n);
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
