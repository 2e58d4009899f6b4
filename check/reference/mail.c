/* mail.c: what an agent sends, sets and publishes, and how it reads its mail. */
#include "reference.h"
#include <stdlib.h>

nima_mail *ref_mail_new(nima_time time, nima_id sender, uint64_t sequence, uint32_t type, const void *payload,
                        uint32_t bytes) {
    nima_mail *m = ref_zeroed(sizeof *m + bytes);
    m->time = time;
    m->sender = sender;
    m->type = (uint16_t)type;
    m->sequence = sequence & 0xFFFFFFFFFFFFu;
    m->bytes = bytes & 0x1FFFFu;
    if (bytes) memcpy(m + 1, payload, bytes);
    return m;
}

static void record(const ref_callback *c, const ref_entry *e) {
    nima_run *run = c->run;
    if (!run->record_sent) return;
    run->sent = ref_grow(run->sent, &run->sent_room, run->sent_count + 1, sizeof *run->sent);
    const nima_id to = e->kind == ENTRY_PUBLICATION ? (nima_id){ 0 } : e->receiver;
    nima_mail *copy = ref_copy(e->mail, sizeof *e->mail + e->mail->bytes);
    run->sent[run->sent_count++] = (ref_sent){ copy, to, c->me.now, c->step };
}

/* Queues a message of the agent; takes its next sequence number. */
static ref_entry *queue_message(ref_callback *c, ref_kind kind, nima_id to, nima_time time, uint32_t step,
                                nima_mail *mail) {
    ref_entry *e = ref_zeroed(sizeof *e);
    e->kind = kind;
    e->time = time;
    e->step = step;
    e->receiver = to;
    e->sender = c->me.self;
    e->sequence = mail->sequence;
    e->mail = mail;
    return e;
}

static void push(ref_callback *c, ref_entry *e) {
    record(c, e);
    ref_queue_push(c->run, e);
}

/* May mail to this id arrive sooner than the lookahead? */
static bool is_near(const ref_callback *c, nima_id to) {
    if (to.bits == c->me.self.bits) return true;
    if (ref_shard_of(to) != ref_shard_of(c->me.self)) return false;
    const ref_agent *a = ref_find(c->run, to);
    return !a || a->group == c->agent->group;
}

void nima_send_(nima *me, nima_id to, nima_time delay, uint32_t type, const void *payload, uint32_t bytes) {
    ref_callback *c = ref_of(me);
    nima_time time;
    uint32_t step;
    ref_check_message(c, type, bytes);
    if (!ref_generation_of(to) || ref_shard_of(to) >= c->run->shard_count)
        ref_fail_in(c, "message of type %u to %016llX, which is nobody's id", type, (unsigned long long)to.bits);
    ref_arrival(c, delay, "message", type, &time, &step);
    if (delay < c->run->lookahead && !is_near(c, to))
        ref_fail_in(c, "message of type %u to another group with delay %lld, below the lookahead of %lld", type,
                    (long long)delay, (long long)c->run->lookahead);
    push(c, queue_message(c, ENTRY_MAIL, to, time, step,
                          ref_mail_new(time, me->self, c->agent->sends++, type, payload, bytes)));
}

void nima_publish(nima *me, const nima_topic *topic, uint64_t key, nima_time delay, uint32_t type, const void *payload,
                  uint32_t bytes) {
    ref_callback *c = ref_of(me);
    nima_time time;
    uint32_t step;
    ref_check_message(c, type, bytes);
    ref_arrival(c, delay, "publication", type, &time, &step);
    if (delay < c->run->lookahead)
        ref_fail_in(c, "publication of type %u with delay %lld, below the lookahead of %lld", type, (long long)delay,
                    (long long)c->run->lookahead);
    ref_entry *e = queue_message(c, ENTRY_PUBLICATION, (nima_id){ 0 }, time, step,
                                 ref_mail_new(time, me->self, c->agent->sends++, type, payload, bytes));
    e->topic = topic;
    e->key = key;
    push(c, e);
}

/* ---- alarms ---------------------------------------------------------------------------------------------------- */
static uint32_t check_of(nima_id self, nima_time time, uint64_t sequence, uint32_t step) {
    return (uint32_t)hash_mum(self.bits ^ HASH_K0 ^ (uint64_t)time, (sequence << 20 | step) ^ HASH_K1) | 1;
}

/* Queues the alarm, which takes over its mail's payload. */
static nima_alarm set(ref_callback *c, nima_time delay, uint32_t type, const void *payload, uint32_t bytes) {
    ref_agent *a = c->agent;
    nima_time time;
    uint32_t step;
    if (c->phase == PHASE_STOP) ref_fail_in(c, "alarm of type %u set in stop", type);
    ref_check_message(c, type, bytes);
    ref_arrival(c, delay, "alarm", type, &time, &step);
    const uint64_t sequence = a->sends++;
    ref_entry *e = queue_message(c, ENTRY_ALARM, a->id, time, step,
                                 ref_mail_new(time, a->id, sequence, type, payload, bytes));
    a->alarms = ref_grow(a->alarms, &a->alarm_room, a->alarm_count + 1, sizeof(ref_entry *));
    a->alarms[a->alarm_count++] = e;
    push(c, e);
    return (nima_alarm){ time, sequence, step, check_of(a->id, time, sequence, step) };
}

nima_alarm nima_set_alarm(nima *me, nima_time delay, uint32_t type, const void *payload, uint32_t bytes) {
    return set(ref_of(me), delay, type, payload, bytes);
}

/* Takes a pending alarm away from the agent; NULL: too late. */
static ref_entry *withdraw(ref_callback *c, nima_alarm h) {
    ref_agent *a = c->agent;
    if (h.check != check_of(a->id, h.time, h.sequence, h.step)) return NULL;
    if (h.time < c->me.now || (h.time == c->me.now && h.step <= c->step)) return NULL;
    for (size_t i = 0; i < a->alarm_count; i++) {
        ref_entry *e = a->alarms[i];
        if (e->time != h.time || e->step != h.step || e->sequence != h.sequence) continue;
        e->cancelled = true;
        a->alarms[i] = a->alarms[--a->alarm_count];
        return e;
    }
    return NULL;
}

bool nima_cancel(nima *me, nima_alarm h) { return withdraw(ref_of(me), h) != NULL; }

nima_alarm nima_move(nima *me, nima_alarm h, nima_time delay) {
    const ref_entry *old = withdraw(ref_of(me), h);
    if (!old) return (nima_alarm){ 0 };
    return set(ref_of(me), delay, old->mail->type, nima_payload(old->mail), (uint32_t)old->mail->bytes);
}

/* ---- topics ---------------------------------------------------------------------------------------------------- */
void nima_subscribe(nima *me, const nima_topic *topic, uint64_t key) {
    ref_agent *a = ref_of(me)->agent;
    for (size_t i = 0; i < a->topic_count; i++)
        if (a->topics[i].topic == topic && a->topics[i].key == key) return;
    a->topics = ref_grow(a->topics, &a->topic_room, a->topic_count + 1, sizeof *a->topics);
    a->topics[a->topic_count++] = (ref_subscription){ topic, key };
}

void nima_unsubscribe(nima *me, const nima_topic *topic, uint64_t key) {
    ref_agent *a = ref_of(me)->agent;
    for (size_t i = 0; i < a->topic_count; i++)
        if (a->topics[i].topic == topic && a->topics[i].key == key) {
            a->topics[i] = a->topics[--a->topic_count];
            return;
        }
}

/* ---- the mailbox ----------------------------------------------------------------------------------------------- */
void nima_shuffle_mail(nima *me) {
    ref_callback *c = ref_of(me);
    const nima_mail **left = (const nima_mail **)(uintptr_t)me->own.mail;
    for (uint64_t i = nima_mail_left(me); i-- > 1;) {
        const uint64_t j = nima_below(&c->agent->random, i + 1);
        const nima_mail *swapped = left[i];
        left[i] = left[j];
        left[j] = swapped;
    }
}
