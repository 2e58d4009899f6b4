#!/usr/bin/env bash
# Breaks the engine on purpose, one line at a time, and tells which test notices first: a test that nothing can make fail proves
# nothing, and a breakage that no test finds wants one. Takes a while; its table is kept in check/broken.md.
#   break.sh [FOLDER [NUMBER...]]
# FOLDER holds the copy of the sources and its build and may be used again; NUMBERs choose breakages.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
folder=${1:-$(mktemp -d)}
shift || true
chosen=" $* "
copy=$folder/source build=$folder/build number=0

while IFS= read -r -d '' file; do            # only what changed, so that an old build serves again
    [[ -e $file ]] || continue
    [[ $file != */* ]] || mkdir -p "$copy/${file%/*}"
    cmp -s "$file" "$copy/$file" || cp "$file" "$copy/$file"
done < <(git ls-files -z -co --exclude-standard)
[[ -e $build/build.ninja ]] || cmake -S "$copy" -B "$build" -G Ninja -DNIMA_TESTS=ON >/dev/null
nice ninja -C "$build" >"$folder/build.log" 2>&1 || { tail "$folder/build.log"; exit 1; }

# first_failing CTEST-OPTIONS: the first test that fails now, twice; a test run that does not end is found as well
first_failing() {
    local log=$folder/test.log
    timeout 300 nice ctest --test-dir "$build" -j 2 "$@" -E '^cluster' --stop-on-failure --repeat until-pass:2 >"$log" 2>&1 || true
    grep -q 'tests passed' "$log" || { echo "(the test run hangs)"; return; }
    sed -nE 's/^[[:space:]]+[0-9]+ - (.*) \((Failed|Timeout|SEGFAULT|[A-Z][A-Za-z_]+ ?[a-z]*)\).*$/\1/p' "$log" | head -n 1
}

# who_fails [TEST]: TEST if it does, else any other, of the quick ones before the slow
who_fails() {
    local label name=
    if [[ ${1:-} ]]; then name=$(first_failing -R "$1"); fi
    for label in pitfall layout theory unit; do
        [[ ! $name ]] || break
        name=$(first_failing -L "$label")
    done
    echo "${name:-**nobody**}"
}

# broken TITLE FILE OLD NEW TEST: OLD, which stands in FILE, becomes NEW; a test named like TEST is asked first
broken() {
    local title=$1 file=$2 old=$3 new=$4 test=$5 text
    ((++number))
    [[ $chosen == "  " || $chosen == *" $number "* ]] || return 0
    text=$(<"$copy/$file")
    if [[ $text != *"$old"* ]]; then
        echo "| $number | $title | $file | (does not apply any more) |"
        return
    fi
    cp "$copy/$file" "$folder/kept"
    printf '%s\n' "${text/"$old"/"$new"}" >"$copy/$file"
    if nice ninja -C "$build" lib/libnima.so >"$folder/build.log" 2>&1; then
        echo "| $number | $title | $file | $(who_fails "$test") |"
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
    'return a->sequence < b->sequence;' 'pitfall 18'
broken "mail of one time is not put in order" $e \
    'if (__builtin_expect(unordered, 0)) sort_mail' 'if (0) sort_mail' 'pitfall 11'
broken "a late event is lost" $e 'sort_in(c, queue_pop_heap(q).mail);' '(void)queue_pop_heap(q);' 'account'
broken "a late event is delivered twice" $e 'sort_in(c, queue_pop_heap(q).mail);' \
    '{ ensure_links(c, 2); nima_mail *twice = queue_pop_heap(q).mail; sort_in(c, twice); sort_in(c, twice); }' 'account'
broken "an id is used again (no new generation)" $s \
    'if (a->generation++ == GENERATION_MAX)' 'if (a->generation == GENERATION_MAX)' 'pitfall 17: ids are never reused'
broken "a window is one tick too long" $w \
    'if (span < end - r->net) end = r->net + span;' \
    'if (span < end - r->net) return r->net + span + 1;' 'edge of a window'
broken "two agents share a generator" $s \
    'a->stream = l->number << 48 | i;' 'a->stream = l->number << 48 | i >> 1;' '^layouts: random models'
broken "streams follow slots" $s \
    'a->stream = l->number << 48 | i;' 'a->stream = l->number << 48 | slot;' '^layouts: random models'
broken "draws are not kept" $e 'c->agent->draws = c->me.own.random.draws;' ';' 'theory: M/M/1 queue'
broken "a cancelled alarm rings" $e \
    'return map_remove(&c->shard->cancelled,' \
    'return 0 && map_remove(&c->shard->cancelled,' 'pitfall 32: a cancel beside'
broken "an alarm is cancelled when it is due" $c \
    'a.time == me->now && a.step <= c->step' 'a.time == me->now && a.step < c->step' 'pitfall 32: a cancel beside'
broken "a period is one tick too long" $e \
    'h->now + e->periods[b];' 'h->now + e->periods[b] + 1;' 'pitfall 16: each agent'
broken "births from elsewhere take slots as they come" $e \
    'qsort(c->special, births,' 'qsort(c->special, 0,' '^layouts: random models'
broken "dead letters are not counted" $e 'count_type(c, &c->dead, m->type, 1);' ';' 'pitfall 7'
broken "unread mail is not counted" $e 'count_type(c, &c->unread, (*left)->type, 1);' ';' 'pitfall 5'
broken "a halt ends one tick late" $c \
    'NIMA_FOREVER : me->now + wait;' 'NIMA_FOREVER : me->now + wait + 1;' 'a halt ends'
broken "a row is taken at the end" $w \
    'r->next_sample < end &&' 'r->next_sample <= end &&' 'pitfall 20: rows up to the end'
broken "the end is run, too" $w \
    'if (r->failed || r->net >= end) break;' 'if (r->failed || r->net > end) break;' 'pitfall 27: nothing of the end'
broken "the last bytes of a payload are not cleared" $c '*last = 0; ' '(void)last; ' 'pitfall 30'
broken "states begin with what lay there" $s 'memset((char *)to + i, 0, 8);' '(void)i;' 'pitfall 17'
broken "the bound of steps is one too many" $c \
    'delay == 0 && c->step + 1 >= e->step_bound' 'delay == 0 && c->step >= e->step_bound' 'pitfall 34'
broken "a worker is not woken" runtime/worker/team.c \
    'if (atomic_load(&t->sleepers)) futex_wake(&t->epoch);' ';' 'pitfall 28'
broken "subscribers stay after death" actors/topics.c '!(a->flags & AGENT_ALIVE)) {' '0) {' '^layouts: random models'
broken "a delay below the lookahead is let through" $c \
    'if (delay < e->lookahead && !nima_same(to, c->me.self))' 'if (0)' 'broken promises'
broken "the last failure is named, not the first" runtime/worker/failure.c \
    'return a->time < b->time;' 'return a->time > b->time;' 'earliest of many'
broken "memory has no limit" actors/memory.c 'now > m->limit' '0' 'pitfall 29: out of memory at'
broken "a dead agent's level stays" actors/collect.c 'level_change(c, i, -last);' ';' '^layouts: random models'
broken "means of shards are combined without weights" runtime/sample.c \
    'a.mean = a.mean + d * nb / n;' 'a.mean = a.mean + d / 2;' 'pitfall 19: collected'
broken "a moved alarm rings at its old time, too" $c \
    'if (!nima_cancel(me, a)) return (nima_alarm){ 0, 0, 0, 0 };' 'if (a.check == 0) return a;' 'pitfall 32'
broken "a set is seen one tick early" actors/gset.c \
    'NIMA_FOREVER : me->now + delay;' 'NIMA_FOREVER : me->now + delay - 1;' 'randomwalk'
broken "start does not come before update" $e 'if (starts) first_call(' 'if (starts && !n) first_call(' 'pitfall 5'
broken "an agent's blocks stay after its death" $s \
    'if (h->rest[slot].blocks) arena_give_all(h, &h->rest[slot]);' ';' 'pitfall 6: one-shot'
broken "a posted message comes one tick late" runtime/embed.c \
    'queue_append(&h->queue, at,' 'queue_append(&h->queue, at + 1,' 'embed: posts arrive'
broken "a paused run spins" $w 'sleep_unless(r, wish, 1e9);' ';' 'pitfall 9: a paused'
broken "a signal is not caught" runtime/worker/failure.c 'if (!c || !c->in_callback) {' 'if (1) {' 'failure: crashes'
