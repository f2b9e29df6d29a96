/* gradient.c - the price of options by Black and Scholes with its derivatives by spot price, volatility and time (delta, vega, theta):
 * all three at once by dual numbers in the price's own text, and delta again by uf_derivative, of which the second derivative is gamma.
 * Runs on the CPU and, if there is one, on the GPU, and compares both with the closed forms in plain C.
 *    gradient [OPTIONS] */
#include "example.h"
#include <math.h>

#define PRICE                                                                                        \
    "const rate = 0.03, strike = 100.0;\n"                                                           \
    "normal(x) { return 0.5 * erfc(-x * M_SQRT1_2); }\n"                                             \
    "price(spot, volatility, time) {\n"                                                              \
    "    auto spread = volatility * sqrt(time);\n"                                                   \
    "    auto d1 = (log(spot / strike) + (rate + 0.5 * volatility * volatility) * time) / spread;\n" \
    "    return spot * normal(d1) - strike * exp(-rate * time) * normal(d1 - spread);\n"             \
    "}\n"

static const char price_source[] = PRICE "(spot, volatility, time) { return price(spot, volatility, time); }";

/* Each input is a dual number whose derivative is a unit vector. */
static const char gradient_source[] =
    "use dual, vec;\n" PRICE "(spot, volatility, time) -> (value, delta, vega, theta) {\n"
    "    auto s = (dual(vec3(float64))){spot, {1, 0, 0}};\n"
    "    auto v = (dual(vec3(float64))){volatility, {0, 1, 0}};\n"
    "    auto t = (dual(vec3(float64))){time, {0, 0, 1}};\n"
    "    auto p = price(s, v, t);\n"
    "    value = p.re; delta = p.du.x; vega = p.du.y; theta = p.du.z;\n"
    "}";

enum {
    SPOT,
    VOLATILITY,
    TIME,
    INPUTS,
    VALUE = INPUTS,
    DELTA,
    VEGA,
    THETA,
    DELTA_AGAIN,
    GAMMA,
    COLUMNS
};

static const char *const names[COLUMNS] = {[VALUE] = "the value", [DELTA] = "delta",       [VEGA] = "vega",
                                           [THETA] = "theta",     [DELTA_AGAIN] = "delta", [GAMMA] = "gamma"};

static double normal(double x) { return 0.5 * erfc(-x * sqrt(0.5)); }

/* The closed forms. */
static void find_plainly(double *row) {
    const double rate = 0.03, strike = 100, s = row[SPOT], v = row[VOLATILITY], t = row[TIME];
    double spread = v * sqrt(t), d1 = (log(s / strike) + (rate + 0.5 * v * v) * t) / spread, d2 = d1 - spread;
    double density = exp(-0.5 * d1 * d1) / sqrt(2 * acos(-1)), discounted = strike * exp(-rate * t);
    row[VALUE] = s * normal(d1) - discounted * normal(d2);
    row[DELTA] = row[DELTA_AGAIN] = normal(d1);
    row[VEGA] = s * density * sqrt(t);
    row[THETA] = s * density * v / (2 * sqrt(t)) + rate * discounted * normal(d2);
    row[GAMMA] = density / (s * spread);
}

int main(int argc, char **argv) {
    int64_t n = number(argc, argv, 1, 1000000);
    double *column[COLUMNS];
    for (int c = 0; c < COLUMNS; c++)
        column[c] = allocate(n, sizeof *column[c]);
    for (int64_t i = 0; i < n; i++) {
        double part = (double)i / (double)n;
        column[SPOT][i] = 70 + 60 * part;
        column[VOLATILITY][i] = 0.1 + 0.4 * (double)(i % 97) / 97;
        column[TIME][i] = 0.25 + (double)(i % 89) / 89;
    }

    uf_func *price, *gradient, *delta, *gamma;
    UF_CHECK(uf_vectorize(&price, "price", "float64,float64,float64->float64", price_source));
    UF_CHECK(uf_vectorize(&gradient, "gradient", "float64,float64,float64->float64,float64,float64,float64",
                          gradient_source));
    UF_CHECK(uf_derivative(&delta, price, SPOT));
    UF_CHECK(uf_derivative(&gamma, delta, SPOT));

    DLDevice device;
    for (int k = 0; find_device(k, &device); k++) {
        DLManagedTensor *array[COLUMNS];
        DLTensor a[COLUMNS];
        for (int c = 0; c < COLUMNS; c++) {
            array[c] = copy_to(device, UF_ARRAY(column[c], n));
            a[c] = array[c]->dl_tensor;
        }
        double took = 0;
        for (int warm = 0; warm < 2; warm++) { /* the first round compiles */
            double start = seconds();
            UF_CHECK(uf_call(gradient, 7, a, NULL));
            UF_CHECK(uf_sync(device, NULL));
            took = seconds() - start;
        }
        UF_CHECK(UF_CALL(delta, a[SPOT], a[VOLATILITY], a[TIME], a[DELTA_AGAIN]));
        UF_CHECK(UF_CALL(gamma, a[SPOT], a[VOLATILITY], a[TIME], a[GAMMA]));
        for (int c = 0; c < COLUMNS; c++)
            take_back(UF_ARRAY(column[c], n), array[c]);
        for (int64_t i = 0; i < n; i++) {
            double row[COLUMNS] = {column[SPOT][i], column[VOLATILITY][i], column[TIME][i]};
            find_plainly(row);
            for (int c = VALUE; c < COLUMNS; c++) {
                check(fabs(column[c][i] - row[c]) <= 1e-12 * (fabs(row[c]) + 1), names[c]);
                column[c][i] = i < n - 1 ? 0 : column[c][i];
            }
        }
        printf("gradient  %-7s %8.3f Moption/s\n", name_of(device), 1e-6 * (double)n / took);
        printf("gradient  of the last option: %.6f, delta %.6f, vega %.6f, theta %.6f, gamma %.6f\n",
               column[VALUE][n - 1], column[DELTA][n - 1], column[VEGA][n - 1], column[THETA][n - 1],
               column[GAMMA][n - 1]);
    }
    uf_free(price);
    uf_free(gradient);
    uf_free(delta);
    uf_free(gamma);
    for (int c = 0; c < COLUMNS; c++)
        free(column[c]);
}
