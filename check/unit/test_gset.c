/* Replicas of a grow-only set: whatever happens to what is told on the way, the final merge makes them equal to the union
 * that bare arrays give. */
#include "gset.h"
#include <check.h>
#include <stdlib.h>

enum { BITS = 300, REPLICAS = 5, TOLD_MOST = 4000 };
typedef struct { unsigned to; uint64_t bit; nima_time from; } told;

static nima_gset new_set(void) {
    nima_gset g = { .bits = BITS, .mode = NIMA_GSET_EVENTUAL };
    void *memory = calloc(1, gset_bytes(BITS));
    ck_assert(memory);
    gset_init(&g, memory);
    return g;
}

static nima_time seen(const nima_gset *g, uint64_t bit) { return atomic_load(&g->seen[bit]); }

static void check_equal(const nima_gset *g, const nima_time *expected) {
    for (uint64_t bit = 0; bit < BITS; bit++) {
        ck_assert_int_eq(seen(g, bit), expected[bit]);
        ck_assert_int_eq(gset_maps(g, bit), expected[bit] != NIMA_FOREVER);
    }
}

static void merge(nima_gset *to, const nima_gset *from) {
    nima_time was;
    for (uint64_t bit = 0; bit < BITS; bit++) if (gset_maps(from, bit)) gset_lower(to, bit, seen(from, bit), &was);
}

/* One history: bits are added to replicas and told to the others, which get them late, in any order, more than once or not
 * at all; then all are merged, in any order. */
static void one_history(unsigned seed, unsigned lost_percent) {
    nima_gset replica[REPLICAS];
    nima_time expected[BITS], was;
    static told mail[TOLD_MOST];
    unsigned count = 0;
    srand(seed);
    for (int r = 0; r < REPLICAS; r++) replica[r] = new_set();
    for (int bit = 0; bit < BITS; bit++) expected[bit] = NIMA_FOREVER;
    for (nima_time now = 0; now < 200; now++) {
        for (unsigned r = 0; r < REPLICAS; r++) {
            const uint64_t bit = (unsigned)rand() % BITS;
            if (!gset_lower(&replica[r], bit, now, &was)) continue;
            if (now < expected[bit]) expected[bit] = now;
            for (unsigned to = 0; to < REPLICAS; to++)
                if (to != r && (unsigned)rand() % 100 >= lost_percent && count < TOLD_MOST)
                    mail[count++] = (told){ to, bit, now };
        }
        for (int i = 0; i < 8 && count; i++) {               /* arrivals: any of those told, which may come again */
            const unsigned which = (unsigned)rand() % count;
            gset_lower(&replica[mail[which].to], mail[which].bit, mail[which].from, &was);
            if (rand() % 4) mail[which] = mail[--count];
        }
    }
    if (lost_percent == 0) {                 /* nothing lost: equal once all has come, before any merge */
        for (unsigned i = 0; i < count; i++) gset_lower(&replica[mail[i].to], mail[i].bit, mail[i].from, &was);
        for (int r = 0; r < REPLICAS; r++) check_equal(&replica[r], expected);
    }
    const unsigned first = (unsigned)rand() % REPLICAS;
    for (unsigned i = 0; i < REPLICAS; i++) merge(&replica[first], &replica[(first + 3 * i) % REPLICAS]);
    for (unsigned i = 0; i < REPLICAS; i++) merge(&replica[i], &replica[first]);
    for (int r = 0; r < REPLICAS; r++) {
        check_equal(&replica[r], expected);
        ck_assert_uint_eq(gset_hash(&replica[r]), gset_hash(&replica[0]));
    }
    const uint64_t before = gset_hash(&replica[0]);          /* one bit more is another set */
    uint64_t free_bit = 0;
    while (free_bit < BITS && gset_maps(&replica[0], free_bit)) free_bit++;
    ck_assert(gset_lower(&replica[0], free_bit % BITS, free_bit < BITS ? 7 : -1, &was));
    ck_assert_uint_ne(gset_hash(&replica[0]), before);
    for (int r = 0; r < REPLICAS; r++) free((void *)(uintptr_t)replica[r].map);
}

START_TEST(any_history) {
    for (unsigned seed = 1; seed <= 200; seed++) one_history(seed, (unsigned[]){ 0, 20, 60, 100 }[seed % 4]);
}
END_TEST

START_TEST(merge_laws) {                     /* a merge of nothing, of oneself, and twice changes nothing */
    nima_gset a = new_set(), b = new_set();
    nima_time was;
    for (uint64_t i = 0; i < 40; i++) { gset_lower(&a, 7 * i, (nima_time)(99 - i), &was); gset_lower(&b, 5 * i, (nima_time)i, &was); }
    const uint64_t alone = gset_hash(&a);
    merge(&a, &a);
    ck_assert_uint_eq(gset_hash(&a), alone);
    nima_gset ab = new_set(), ba = new_set();
    merge(&ab, &a); merge(&ab, &b); merge(&ab, &b);
    merge(&ba, &b); merge(&ba, &a);
    ck_assert_uint_eq(gset_hash(&ab), gset_hash(&ba));
    ck_assert_uint_ne(gset_hash(&ab), alone);
    nima_gset *all[] = { &a, &b, &ab, &ba };
    for (int i = 0; i < 4; i++) free((void *)(uintptr_t)all[i]->map);
}
END_TEST

int main(void) {
    Suite *s = suite_create("gset");
    TCase *t = tcase_create("gset: replicas");
    tcase_add_test(t, any_history);
    tcase_add_test(t, merge_laws);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? 1 : 0;
}
