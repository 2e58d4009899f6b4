/* What the rejection methods are made of, which their results would show only after more draws than a test can make:
 * ln k! and deviance against long double, layers against their area. Includes the source, for its static parts. */
#include "random.c"
#include "statistics.h"

START_TEST(stirling_of_all_sizes) {
    ck_assert(stirling(0) == 0);
    for (double k = 1; k < 1e15; k = k < 200 ? k + 1 : floor(k * 1.7)) {
        const long double x = (long double)k, exact = lgammal(x + 1) - x * logl(x) + x;
        const double allowed = 3e-14 + 1e-18 * k * log(k);    /* the series ends; lgammal cancels */
        ck_assert_msg(fabs(stirling(k) - (double)exact) < allowed, "ln %g!: %.17g, expected %.17Lg", k, stirling(k),
                      exact);
    }
}
END_TEST

START_TEST(deviance_near_and_far) {
    ck_assert(deviance(0, 3.5) == 3.5);
    for (double m = 0.5; m < 1e12; m *= 3.1)
        for (double ratio = 1e-9; ratio < 50; ratio *= 1.9) {
            const double k = m * (1 + ratio);
            const long double d = ((long double)k - (long double)m) / (long double)m;   /* of k / m - 1 */
            const long double exact = (long double)m * ((1 + d) * log1pl(d) - d);
            const long double series = (long double)m * d * d * (0.5L - d / 6);
            if (ratio < 1e-4) ck_assert_double_eq_tol(deviance(k, m), (double)series, 1e-8 * (double)series);
            else ck_assert_double_eq_tol(deviance(k, m), (double)exact, 2e-14 * (double)exact + 1e-18 * k);
        }
    ck_assert_double_eq_tol(deviance(1, 1e3), 1 * log(1e-3) + 1e3 - 1, 1e-12);
}
END_TEST

static void ck_layers(const layer layers[256], const double density[257], double tail) {
    const double area = layers[0].scale * 0x1p53 * density[1];
    ck_assert(layers[255].next < 1e-6 && fabs(density[256] - 1) < 1e-12);
    for (int i = 1; i < 256; i++) {
        const double width = layers[i].scale * 0x1p53;
        ck_assert(layers[i - 1].next == width && layers[i].next < width);
        ck_assert_double_eq_tol(width * (density[i + 1] - density[i]), area, 1e-13);
    }
    ck_assert_double_eq_tol(layers[0].next * density[1] + tail, area, 1e-14);
}

START_TEST(layers_have_one_area) {
    ck_layers(exponential_layers, exponential_density, exp(-EXPONENTIAL_R));
    ck_layers(normal_layers, normal_density, sqrt(M_PI / 2) * erfc(NORMAL_R * M_SQRT1_2));
}
END_TEST

int main(void) {
    const named_test tests[] = {
        { "random: ln k! (all sizes)", stirling_of_all_sizes },
        { "random: deviance (near and far)", deviance_near_and_far },
        { "random: layers of the ziggurats have one area", layers_have_one_area },
    };
    return run_units("random_parts", tests, sizeof tests / sizeof *tests);
}
