/* suite.h: what the tests of transport/ share: one main, in which `NAME` of the environment selects suites by ctest. */
#ifndef CONFORMANCE_SUITE_H
#define CONFORMANCE_SUITE_H
#include <check.h>
#include <stdlib.h>

/* Runs one suite in this process (NNG must not be forked), or each test in its own where forks is set. */
static inline int suite_run(Suite *suite, int forks) {
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, forks ? CK_FORK_GETENV : CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
