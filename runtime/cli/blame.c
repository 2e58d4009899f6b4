/* blame.c: tells where two histories differ, message by message and field by field, and what is the likely cause. */
#include "cli/cli.h"
#include "cli/model.h"
#include "cli/time_text.h"
#include "cli/verify.h"
#include "store/store.h"

static void print_message(const nima_model *m, const history_record *r) {
    const nima_message *message = model_message(m, r->type);
    printf("message %s (type %u, sequence %llu) from %s", message ? message->part.name : "?", r->type,
           (unsigned long long)r->sequence, r->sender_name);
}

/* Fields that differ; false: none does, though the bytes do. */
static bool print_fields(const nima_message *message, const history_record *a, const history_record *b) {
    bool any = false;
    for (uint32_t i = 0; message && i < message->field_count; i++) {
        const nima_field *f = &message->fields[i];
        char x[200], y[200];
        if (f->offset + f->bytes > HISTORY_PAYLOAD || !memcmp(a->payload + f->offset, b->payload + f->offset, f->bytes))
            continue;
        store_field_text(f, a->payload, x, sizeof x);
        store_field_text(f, b->payload, y, sizeof y);
        printf("    %s is %s in one and %s in the other\n", f->name, x, y);
        any = true;
    }
    return any;
}

static void print_bytes(const char *label, const history_record *r) {
    const uint32_t n = r->bytes < HISTORY_PAYLOAD ? r->bytes : HISTORY_PAYLOAD;
    printf("    %s", label);
    for (uint32_t i = 0; i < n; i++) printf(" %02x", r->payload[i]);
    printf("%s\n", r->bytes > n ? " ..." : "");
}

static bool only_undeclared(const nima_model *m, const history_record *a, const history_record *b) {
    const nima_message *message = model_message(m, a->type);
    if (!message || !message->field_count) return false;
    for (uint32_t i = 0; i < message->field_count; i++) {
        const nima_field *f = &message->fields[i];
        if (f->offset + f->bytes <= HISTORY_PAYLOAD && memcmp(a->payload + f->offset, b->payload + f->offset, f->bytes))
            return false;
    }
    return true;
}

void blame_place(const nima_model *m, const history_difference *d) {
    const history_record *r = d->a ? d->a : d->b;
    char when[64];
    if (!r) { printf("all agents have the same history; what differs is the result %s\n", d->result); return; }
    if (r->time == HISTORY_END) {
        printf("first difference: the fields of %s at the end; all mail was the same\n", r->name);
        return;
    }
    time_write(r->time, m, when, sizeof when);
    printf("first difference: %s at time %lld (%s), step %u, ", r->name, (long long)r->time, when, r->step);
    if (!d->a || !d->b) {
        if (r->index) print_message(m, r);
        else fputs("an update without mail", stdout);
        puts(": one run has it, the other has not");
        return;
    }
    if (!r->index) {
        if (d->a->hash != d->b->hash)
            puts("no message: its own fields differ before\n    this update, after the same mail; what it did in the "
                 "update before depends on something else");
        else printf("no message: it has drawn %llu random numbers in one and %llu in the other, after the same mail\n",
                    (unsigned long long)d->a->draws, (unsigned long long)d->b->draws);
        return;
    }
    print_message(m, d->a);
    if (d->a->type != d->b->type || d->a->sender.bits != d->b->sender.bits || d->a->sequence != d->b->sequence) {
        fputs(" in one,\n    ", stdout);
        print_message(m, d->b);
        puts(" in the other");
        return;
    }
    puts(only_undeclared(m, d->a, d->b) ? "; only bytes that belong to no field:" : ":");
    if (!print_fields(model_message(m, d->a->type), d->a, d->b)) {
        print_bytes("one:  ", d->a);
        print_bytes("other:", d->b);
    }
}

void blame_cause(blame cause) {
    static const char *const causes[] = {
        [BLAME_CLOCK] = "two runs alike in everything differ: the model reads the wall clock, rand(), the process id,\n"
                        "    or something else outside the run. Use nima_now, nima_random, a parameter.",
        [BLAME_MEMORY] =
            "it depends on what is in fresh memory: payload bytes that were never set, or a variable that is read\n"
            "    before it is written. The generated senders set all bytes; nima_send and NAME_send of NIMA_BYTES send\n"
            "    what they are given.",
        [BLAME_ADDRESS] = "it depends on where memory lies: an address is used as a key, a hash, an order or a value.\n"
                          "    Use an index or an id.",
        [BLAME_SHARED] = "it depends on the order in which shards are run: a global or static variable that changes,\n"
                         "    or memory that agents share. Use a field of the state, a message, or a result of finish.",
        [BLAME_PROCESS] = "it depends on which agents run in one process: one sets a global or static variable, or memory that\n"
                          "    agents share, and others read it, which another process does not see. Use the world that setup\n"
                          "    fills, a message, or a set. (Where histories differ can be recorded within one process only.)",
        [BLAME_UNKNOWN] = "no single condition brings it out each time: agents on different workers race for shared\n"
                          "    memory (a global or static variable), or the model reads the clock."};
    static const char *const names[] = {[BLAME_CLOCK] = "the wall clock",
                                        [BLAME_MEMORY] = "uninitialised memory",
                                        [BLAME_ADDRESS] = "an address",
                                        [BLAME_SHARED] = "a global variable",
                                        [BLAME_PROCESS] = "a global variable",
                                        [BLAME_UNKNOWN] = "a global variable or the wall clock"};
    printf("likely cause: %s\n    %s\n", names[cause], causes[cause]);
    puts("the usual causes: a global variable, uninitialised payload bytes, the wall clock, an address used as a key");
}
