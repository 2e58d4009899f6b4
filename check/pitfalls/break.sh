#!/usr/bin/env bash
# Breaks the engine on purpose, one line at a time, and tells which test notices first: a test that nothing can make fail proves
# nothing, and a breakage that no test finds wants one. Takes a while; its table is kept in check/broken.md.
#   break.sh [FOLDER [NUMBER...]]
# FOLDER holds the copy of the sources and its build and is kept for the next time; NUMBERs choose breakages.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
folder=${1:-$(mktemp -d)}
shift || true
chosen=" $* "
copy=$folder/source build=$folder/build number=0

rm -rf "$copy"
mkdir -p "$copy"
git ls-files -z -co --exclude-standard | tar c --null -T - | tar x -C "$copy"
[[ -e $build/build.ninja ]] || cmake -S "$copy" -B "$build" -G Ninja -DNIMA_TESTS=ON >/dev/null
nice ninja -C "$build" >"$folder/build.log" 2>&1 || { tail "$folder/build.log"; exit 1; }

# The first test that fails now, of the quick ones before the slow; a test run that does not end in time is found, too.
who_fails() {
    local log=$folder/test.log label name
    for label in pitfall layout theory unit; do
        timeout 600 nice ctest --test-dir "$build" -j 2 -L "$label" --stop-on-failure >"$log" 2>&1 || true
        grep -q 'tests passed' "$log" || { echo "$label tests, which hang"; return; }
        name=$(sed -nE 's/^[[:space:]]+[0-9]+ - (.*) \((Failed|Timeout|SEGFAULT|[A-Z][A-Za-z_]+ ?[a-z]*)\).*$/\1/p' "$log" | head -n 1)
        if [[ $name ]]; then echo "$name"; return; fi
    done
    echo "**nobody**"
}

# broken TITLE FILE OLD NEW: OLD, which stands in FILE, becomes NEW
broken() {
    local title=$1 file=$2 old=$3 new=$4 text
    ((++number))
    [[ $chosen == "  " || $chosen == *" $number "* ]] || return 0
    text=$(<"$copy/$file")
    if [[ $text != *"$old"* ]]; then
        echo "| $number | $title | $file | (does not apply any more) |"
        return
    fi
    cp "$copy/$file" "$folder/kept"
    printf '%s\n' "${text/"$old"/"$new"}" >"$copy/$file"
    if nice ninja -C "$build" >"$folder/build.log" 2>&1; then
        echo "| $number | $title | $file | $(who_fails) |"
    else
        echo "| $number | $title | $file | (does not compile) |"
    fi
    cp "$folder/kept" "$copy/$file"
}

if [[ $chosen == "  " || $chosen == *" 0 "* ]]; then
    echo "| 0 | (nothing broken) | | $(who_fails) |"
fi
e=actors/execute.c s=actors/shard.c c=actors/calls.c w=runtime/worker/window.c
broken "mail of one time ordered by sequence alone" $e \
    'return a->sender.bits != b->sender.bits ? a->sender.bits < b->sender.bits : a->sequence < b->sequence;' \
    'return a->sequence < b->sequence;'
broken "mail of one time is not put in order" $e 'if (__builtin_expect(unordered, 0)) sort_mail' 'if (0) sort_mail'
broken "a late event is lost" $e 'sort_in(c, queue_pop_heap(q).mail);' '(void)queue_pop_heap(q);'
broken "a late event is delivered twice" $e 'sort_in(c, queue_pop_heap(q).mail);' \
    '{ ensure_links(c, 2); nima_mail *twice = queue_pop_heap(q).mail; sort_in(c, twice); sort_in(c, twice); }'
broken "an id is used again (no new generation)" $s 'if (a->generation++ == GENERATION_MAX)' 'if (a->generation == GENERATION_MAX)'
broken "a window is one tick too long" $w 'end = (grid + 1) * e->lookahead;' 'end = (grid + 1) * e->lookahead + 1;'
broken "two agents share a generator" $s 'a->stream = l->number << 48 | i;' 'a->stream = l->number << 48 | i >> 1;'
broken "streams follow slots" $s 'a->stream = l->number << 48 | i;' 'a->stream = l->number << 48 | slot;'
broken "draws are not kept" $e 'c->agent->draws = c->random.draws;' ';'
broken "a cancelled alarm rings" $e 'return map_remove(&c->shard->cancelled,' 'return 0 && map_remove(&c->shard->cancelled,'
broken "an alarm is cancelled when it is due" $c 'a.time == me->now && a.step <= c->step' 'a.time == me->now && a.step < c->step'
broken "a period is one tick too long" $e 'h->now + e->periods[b];' 'h->now + e->periods[b] + 1;'
broken "births from elsewhere take slots as they come" $e 'qsort(c->special, births,' 'qsort(c->special, 0,'
broken "dead letters are not counted" $e 'count_type(c, &c->dead, m->type, 1);' ';'
broken "unread mail is not counted" $e 'if (__builtin_expect(c->mail != c->mail_end, 0)) unread(c);' ';'
broken "a halt ends one tick late" $c 'NIMA_FOREVER : me->now + wait;' 'NIMA_FOREVER : me->now + wait + 1;'
broken "a row is taken at the end" $w 'r->next_sample < end &&' 'r->next_sample <= end &&'
broken "the end is run, too" $w 'if (r->failed || r->net >= end) break;' 'if (r->failed || r->net > end) break;'
broken "the last bytes of a payload are not cleared" $c '*last = 0; ' '(void)last; '
broken "states begin with what lay there" $s 'memset((char *)to + i, 0, 8);' '(void)i;'
broken "the bound of steps is one too many" $c 'delay == 0 && c->step + 1 >= e->step_bound' 'delay == 0 && c->step >= e->step_bound'
broken "a worker is not woken" runtime/worker/team.c 'if (atomic_load(&t->sleepers)) futex_wake(&t->epoch);' ';'
broken "subscribers stay after death" actors/topics.c '!(a->flags & AGENT_ALIVE)) {' '0) {'
broken "a delay below the lookahead is let through" $c 'if (delay < e->lookahead && !nima_same(to, c->me.self))' 'if (0)'
broken "the last failure is named, not the first" runtime/worker/failure.c 'return a->time < b->time;' 'return a->time > b->time;'
broken "memory has no limit" actors/memory.c 'now > m->limit' '0'
broken "a dead agent's level stays" actors/collect.c 'level_change(c, i, -last);' ';'
broken "means of shards are combined without weights" runtime/sample.c 'a.mean = a.mean + d * nb / n;' 'a.mean = a.mean + d / 2;'
broken "a moved alarm rings at its old time, too" $c 'if (!nima_cancel(me, a)) return (nima_alarm){ 0, 0, 0, 0 };' 'if (a.check == 0) return a;'
broken "a set is seen one tick early" $c 'NIMA_FOREVER : me->now + g->delay;' 'NIMA_FOREVER : me->now + g->delay - 1;'
broken "start does not come before update" $e 'if (starts && b->start) {' 'if (starts && b->start && !n) {'
broken "an agent's blocks stay after its death" $s 'if (h->rest[slot].blocks) arena_give_all(h, &h->rest[slot]);' ';'
broken "a posted message comes one tick late" runtime/embed.c 'queue_append(&h->queue, at,' 'queue_append(&h->queue, at + 1,'
broken "a paused run spins" $w 'sleep_unless(r, wish, 1e9);' ';'
broken "a signal is not caught" runtime/worker/failure.c 'if (!c || !c->in_callback) {' 'if (1) {'
