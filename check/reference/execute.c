/* execute.c: what happens at one (time, step): births from elsewhere, publications, then agent by agent. */
#include "reference.h"
#include <stdlib.h>

static void birth(nima_run *run, const ref_entry *e) {
    ref_agent *a = ref_agent_new(run, ref_shard_of(e->receiver), e->behavior, e->stream, e->state);
    a->parent = e->sender;
    a->group = run->groups++;
    ref_queue_start(run, a, e->time, e->step);
}

static bool subscribed(const ref_agent *a, const ref_entry *e) {
    for (size_t i = 0; i < a->topic_count; i++)
        if (a->topics[i].topic == e->topic && a->topics[i].key == e->key) return true;
    return false;
}

/* One message for each agent then subscribed, in this same (time, step). */
static void expand(nima_run *run, const ref_entry *e) {
    for (uint32_t s = 0; s < run->shard_count; s++)
        for (size_t i = 0; i < run->shards[s].slot_count; i++) {
            const ref_agent *a = run->shards[s].slots[i].agent;
            if (!a || !a->alive || !subscribed(a, e)) continue;
            ref_entry *copy = ref_zeroed(sizeof *copy);
            copy->kind = ENTRY_MAIL;
            copy->time = e->time;
            copy->step = e->step;
            copy->receiver = a->id;
            copy->sender = e->sender;
            copy->sequence = e->sequence;
            copy->mail = ref_copy(e->mail, sizeof *e->mail + e->mail->bytes);
            ref_queue_push(run, copy);
        }
}

static void forget_alarm(ref_agent *a, const ref_entry *e) {
    for (size_t i = 0; i < a->alarm_count; i++)
        if (a->alarms[i] == e) a->alarms[i] = a->alarms[--a->alarm_count];
}

static void call(ref_callback *c, nima_callback *callback, ref_phase phase) {
    c->phase = phase;
    if (callback) callback(&c->me, c->agent->state);
}

/* The life of one agent in one (time, step). */
static void run_agent(nima_run *run, ref_agent *a, bool starts, bool due, const nima_mail **mail, size_t count,
                      nima_time now, uint32_t step) {
    const nima_behavior *b = a->behavior;
    ref_callback c = { .me = { .params = run->params, .world = run->world, .now = now, .self = a->id, .own.near_shard = UINT64_MAX }, .run = run, .agent = a, .step = step };
    if (starts) {
        a->alive = true;
        run->alive++;
        run->events++;
        a->chain = ref_chain_begin(a, now, step);
        call(&c, b->start, PHASE_START);
    }
    for (size_t i = 0; i < count; i++) a->chain = ref_chain_mail(a->chain, mail[i], step);
    run->events += count;
    c.left = c.me.own.mail = mail;
    c.me.own.mail_end = mail + count;
    if (a->stopping) c.me.own.mail = c.me.own.mail_end;
    if (!a->stopping && (count || due)) {
        if (!count) run->events++;
        call(&c, b->update, PHASE_UPDATE);
    }
    run->unread += (size_t)(c.me.own.mail_end - (a->stopping ? c.left : c.me.own.mail));
    if (a->stopping) {
        call(&c, b->stop, PHASE_STOP);
        ref_agent_end(run, a, now);
    } else ref_schedule_due(run, a, now);
}

static bool same_slot(const ref_entry *a, const ref_entry *b) {
    return a->time == b->time && a->step == b->step && b->kind >= ENTRY_START
        && ref_shard_of(a->receiver) == ref_shard_of(b->receiver)
        && ref_slot_of(a->receiver) == ref_slot_of(b->receiver);
}

/* Takes from the queue all that it holds for one slot at the head's (time, step). */
static void take_slot_entries(nima_run *run) {
    run->taken_count = 0;
    do {
        run->taken = ref_grow(run->taken, &run->taken_room, run->taken_count + 1, sizeof(ref_entry *));
        run->taken[run->taken_count++] = ref_queue_pop(run);
    } while (run->queue.count && same_slot(run->taken[0], run->queue.heap[0]));
    run->mail = ref_grow(run->mail, &run->mail_room, run->taken_count, sizeof *run->mail);
}

static void run_slot(nima_run *run) {
    take_slot_entries(run);
    const nima_time now = run->taken[0]->time;
    const uint32_t step = run->taken[0]->step, number = ref_slot_of(run->taken[0]->receiver);
    const ref_shard *shard = run->shards + ref_shard_of(run->taken[0]->receiver);
    ref_agent *a = number < shard->slot_count ? shard->slots[number].agent : NULL;   /* who was born there last */
    bool starts = false, due = false;
    size_t mail_count = 0;
    for (size_t i = 0; i < run->taken_count; i++) starts |= run->taken[i]->kind == ENTRY_START;
    for (size_t i = 0; i < run->taken_count; i++) {
        const ref_entry *e = run->taken[i];
        const bool is_mine = a && (a->alive || starts) && a->id.bits == e->receiver.bits;
        if (e->kind == ENTRY_DUE && is_mine) {
            a->due_queued = false;
            due = a->awake;
        } else if (e->kind == ENTRY_ALARM && is_mine && !e->cancelled) {
            forget_alarm(a, e);
            run->mail[mail_count++] = e->mail;
        } else if (e->kind == ENTRY_MAIL && is_mine) run->mail[mail_count++] = e->mail;
        else if (e->kind == ENTRY_MAIL) run->dead_letters++;
    }
    if (starts) {                            /* born awake: what `start` calls acts from the next due time on */
        const nima_time period = run->periods[a->behavior->index];
        due = period && step == 0 && now % period == 0;
    }
    if (starts || due || mail_count) run_agent(run, a, starts, due, run->mail, mail_count, now, step);
    for (; run->taken_count; run->taken_count--) ref_entry_free(run->taken[run->taken_count - 1]);
}

void ref_execute(nima_run *run) {
    const ref_entry *head = run->queue.heap[0];
    const nima_time now = head->time;
    const uint32_t step = head->step;
    run->last = now;
    run->happened = true;
    while (run->queue.count && run->queue.heap[0]->time == now && run->queue.heap[0]->step == step) {
        if (run->queue.heap[0]->kind >= ENTRY_START) {
            run_slot(run);
            continue;
        }
        ref_entry *e = ref_queue_pop(run);
        (e->kind == ENTRY_BIRTH ? birth : expand)(run, e);
        ref_entry_free(e);
    }
}
