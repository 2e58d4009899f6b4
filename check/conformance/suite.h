/* suite.h: what the tests of transport/ share: how tests are added and run. CK_RUN_CASE=NAME in the environment runs
 * one. */
#ifndef CONFORMANCE_SUITE_H
#define CONFORMANCE_SUITE_H
#include <arpa/inet.h>
#include <check.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* A port of loopback that nobody had a moment ago. */
static inline int free_port(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof at;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int failed = bind(fd, (struct sockaddr *)&at, sizeof at) | getsockname(fd, (struct sockaddr *)&at, &bytes);
    close(fd);
    return failed ? 0 : ntohs(at.sin_port);
}

/* One test, run for _i = 0 to loops - 1, as a case of its own. */
static inline void suite_add(Suite *suite, const char *name, const TTest *test, int loops) {
    TCase *cases = tcase_create(name);
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, test, 0, loops);
    suite_add_tcase(suite, cases);
}

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
