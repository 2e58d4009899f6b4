/* arithmetic.c: functions offered to models, the same bits on every host: SLEEF's deterministic scalar ones, which
 * use no fused multiplication and pick no variant by processor, unlike libm's. Within 1 unit in the last place. */
#include "nima.h"
#include <sleef.h>

double nima_exp(double x) { return Sleef_cinz_expd1_u10purec(x); }
double nima_ln(double x) { return Sleef_cinz_logd1_u10purec(x); }
double nima_pow(double x, double y) { return Sleef_cinz_powd1_u10purec(x, y); }
double nima_sin(double x) { return Sleef_cinz_sind1_u10purec(x); }
double nima_cos(double x) { return Sleef_cinz_cosd1_u10purec(x); }
