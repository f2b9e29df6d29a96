// standardize.cpp - the C++ header: each column of a table is shifted and scaled to mean 0 and standard deviation 1. Runs on the CPU
// and, if there is one, on the GPU, and compares both with plain loops.
//    standardize [ROWS]
#include <ufunc.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr std::size_t columns = 5;
using table = std::vector<std::array<float, columns>>; // rows lie one behind the other

table draw(std::size_t rows) {
    table t(rows);
    std::uint32_t state = 1;
    for (auto &row : t)
        for (std::size_t c = 0; c < columns; c++) {
            state = state * 1664525 + 1013904223;
            row[c] = static_cast<float>(c + 1) * (static_cast<float>(state >> 8) * 0x1p-24f - 0.25f) + 1;
        }
    return t;
}

table plainly(const table &t) {
    table r(t.size());
    for (std::size_t c = 0; c < columns; c++) {
        double mean = 0, squares = 0;
        for (const auto &row : t)
            mean += static_cast<double>(row[c]) / static_cast<double>(t.size());
        for (const auto &row : t)
            squares += (static_cast<double>(row[c]) - mean) * (static_cast<double>(row[c]) - mean);
        const double scale = std::sqrt(squares / static_cast<double>(t.size()));
        for (std::size_t i = 0; i < t.size(); i++)
            r[i][c] = static_cast<float>(scale > 0 ? (static_cast<double>(t[i][c]) - mean) / scale : 0);
    }
    return r;
}

// Two reductions of the columns, and one function that takes a value of the table and those of its column.
table by_ufunc(const table &t, DLDevice device) {
    const auto mean = uf::function::load("mean"), std = uf::function::load("std");
    const auto scaled = uf::function::vectorize("scaled", "fff->f",
                                                UF_SOURCE((x, mean, std) { return std > 0 ? (x - mean) / std : 0; }));
    const auto by_column = uf::reduce_options().with_axes(0);
    const uf::array x = uf::array::copy_of(t, device);
    const uf::array r = scaled.result({x, mean.reduced({x}, by_column), std.reduced({x}, by_column)});
    table host(t.size());
    uf::copy(host, r);
    return host;
}

void compare(const table &got, const table &want, const char *device) {
    for (std::size_t i = 0; i < got.size(); i++)
        for (std::size_t c = 0; c < columns; c++)
            if (!(std::fabs(got[i][c] - want[i][c]) <= 1e-4f * (1 + std::fabs(want[i][c])))) {
                std::fprintf(stderr, "wrong: %s: row %zu, column %zu is %g, not %g\n", device, i, c,
                             static_cast<double>(got[i][c]), static_cast<double>(want[i][c]));
                std::exit(1);
            }
    std::printf("standardize  %-7s the first row is %.3f %.3f %.3f %.3f %.3f\n", device, static_cast<double>(got[0][0]),
                static_cast<double>(got[0][1]), static_cast<double>(got[0][2]), static_cast<double>(got[0][3]),
                static_cast<double>(got[0][4]));
}

bool has_gpu() {
    try {
        uf::array::empty<float>({1}, uf::cuda());
        return true;
    } catch (const uf::error &e) {
        std::printf("standardize  cuda:0  left out: %.*s\n", static_cast<int>(std::strcspn(e.what(), "\n")), e.what());
        return false;
    }
}

} // namespace

int main(int argc, char **argv) {
    const table t = draw(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100000);
    try {
        const table want = plainly(t);
        compare(by_ufunc(t, uf::cpu), want, "cpu");
        if (has_gpu())
            compare(by_ufunc(t, uf::cuda()), want, "cuda:0");
    } catch (const uf::error &e) {
        std::fprintf(stderr, "standardize: %s\n", e.what());
        return 1;
    }
}
