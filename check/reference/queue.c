/* queue.c: the one sorted queue (a binary heap) of everything that is still to happen.
 *
 * Order: time, step; births from elsewhere, then publications, then agents by (shard, slot), the mail of one slot by
 * (sender, sequence). Entries that turned void (cancelled alarms, alarms of the dead, the period of one who sleeps or
 * is dead) are dropped when they come to the head: they neither advance time nor keep a run alive. */
#include "reference.h"
#include <stdlib.h>

#define COMPARE(x, y) if ((x) != (y)) return (x) < (y)

static int class_of(const ref_entry *e) {
    return e->kind == ENTRY_BIRTH ? 0 : e->kind == ENTRY_PUBLICATION ? 1 : 2;
}

static bool before(const ref_entry *a, const ref_entry *b) {
    COMPARE(a->time, b->time);
    COMPARE(a->step, b->step);
    COMPARE(class_of(a), class_of(b));
    COMPARE(ref_shard_of(a->receiver), ref_shard_of(b->receiver));
    COMPARE(ref_slot_of(a->receiver), ref_slot_of(b->receiver));
    COMPARE(a->sender.bits, b->sender.bits);
    COMPARE(a->sequence, b->sequence);
    COMPARE(a->kind, b->kind);
    return a->receiver.bits < b->receiver.bits;
}

void ref_queue_push(nima_run *run, ref_entry *entry) {
    ref_queue *q = &run->queue;
    q->heap = ref_grow(q->heap, &q->room, q->count + 1, sizeof(ref_entry *));
    size_t i = q->count++;
    for (; i && before(entry, q->heap[(i - 1) / 2]); i = (i - 1) / 2) q->heap[i] = q->heap[(i - 1) / 2];
    q->heap[i] = entry;
}

void ref_queue_start(nima_run *run, const ref_agent *a, nima_time time, uint32_t step) {
    ref_entry *start = ref_zeroed(sizeof *start);
    start->kind = ENTRY_START;
    start->time = time;
    start->step = step;
    start->receiver = a->id;
    ref_queue_push(run, start);
}

ref_entry *ref_queue_pop(nima_run *run) {
    ref_queue *q = &run->queue;
    if (!q->count) return NULL;
    ref_entry *top = q->heap[0], *moved = q->heap[--q->count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < q->count; i = child) {
        if (child + 1 < q->count && before(q->heap[child + 1], q->heap[child])) child++;
        if (!before(q->heap[child], moved)) break;
        q->heap[i] = q->heap[child];
    }
    q->heap[i] = moved;
    return top;
}

static bool is_void(nima_run *run, const ref_entry *e) {
    if (e->kind != ENTRY_ALARM && e->kind != ENTRY_DUE) return false;
    const ref_agent *owner = ref_find(run, e->receiver);
    return !owner || (e->kind == ENTRY_ALARM ? e->cancelled : !owner->awake);
}

ref_entry *ref_queue_head(nima_run *run) {
    for (; run->queue.count; ref_entry_free(ref_queue_pop(run))) {
        ref_entry *head = run->queue.heap[0];
        if (!is_void(run, head)) return head;
        ref_agent *owner = ref_find(run, head->receiver);
        if (owner && head->kind == ENTRY_DUE) owner->due_queued = false;
    }
    return NULL;
}

void ref_entry_free(ref_entry *e) {
    free(e->mail);
    free(e->state);
    free(e);
}
