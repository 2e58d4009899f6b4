/* The clock of DESIGN 5 as a model that spin searches completely: dispatchers run windows, an authority grants them.
 *
 * A dispatcher that is granted `until` first waits for the batches that the grant counts, then runs all it holds before
 * `until`, handing batches to the network as it goes, and reports its NET: the earliest time it holds or has sent in this
 * window, and how many batches went to whom. When all have reported, the authority takes the least NET and grants the
 * window [NET, NET + LOOKAHEAD), with each dispatcher's count. A batch carries the parity of the window it was sent in,
 * because a dispatcher that started early may already be sending in the new window while another still waits for batches
 * of the old one. Times stand for (time, step) pairs, so LOOKAHEAD 1 is also the model of lookahead zero, where a window
 * is one pair. The network delivers in any order, after any delay.
 *
 * Held in every state: nothing arrives at or before a time already run; a dispatcher starts with exactly the batches
 * counted; each window runs something; the authority ends the run only when nothing is pending; all then come to an end.
 *
 * Canaries, each of which must be found wrong:
 *   UNSAFE           all idle, take the minimum: neither what was sent nor counts
 *   WITHOUT_SENT     NET is only what a dispatcher holds
 *   WITHOUT_COUNTS   a grant does not say what must have arrived
 *   WITHOUT_WINDOW   batches do not say which window they belong to, only their number counts
 */
#ifndef LOOKAHEAD
#define LOOKAHEAD 1
#endif
#ifndef EVENTS
#define EVENTS 5                            /* ever born in the run */
#endif
#define N 3                                 /* dispatchers */
#define END 5                               /* times are 0 .. END-1 */
#define NEVER END

typedef times { byte at[END] }
typedef batches { byte even[END]; byte odd[END] }    /* by time; sent in an even and in an odd window */
typedef counts { byte to[N] }

times held[N];                              /* events a dispatcher holds */
batches flight[N];                          /* batches under way to a dispatcher, one event each */
byte got_even[N], got_odd[N];               /* batches it has received, by window */
byte next_time[N];                          /* nothing before this may still arrive */
byte born, executed, pending;               /* for the properties only */

chan report[N] = [1] of { byte, counts };   /* NET, batches sent to whom in this window */
chan grant[N] = [1] of { byte, byte };      /* until (0: the run has ended), batches to await */

inline arrive(i, time) {
    held[i].at[time]++;
    assert(time >= next_time[i])
}

#define DELIVER(i, time) \
    :: atomic { flight[i].even[time] > 0 -> flight[i].even[time]--; got_even[i]++; arrive(i, time) } \
    :: atomic { flight[i].odd[time] > 0 -> flight[i].odd[time]--; got_odd[i]++; arrive(i, time) }
#define DELIVER_TO(i) DELIVER(i, 0) DELIVER(i, 1) DELIVER(i, 2) DELIVER(i, 3) DELIVER(i, 4)

active proctype network() {
end:
    do
    DELIVER_TO(0)
    DELIVER_TO(1)
    DELIVER_TO(2)
    od
}

/* time = the earliest time that i holds */
inline earliest(i, time) {
    time = 0;
    do
    :: time < END && held[i].at[time] == 0 -> time++
    :: else -> break
    od
}

/* One event at `time`: up to two children, to oneself soon, or to another after the lookahead or later. */
inline execute(i, time) {
    executed++;
    child = 0;
    do
    :: child < 2 && born < EVENTS ->
        child++;
        if
        :: time + 1 < END -> born++; pending++; held[i].at[time + 1]++
        :: time + LOOKAHEAD < END -> send(time + LOOKAHEAD, (i + 1) % N)
        :: time + LOOKAHEAD < END -> send(time + LOOKAHEAD, (i + 2) % N)
        :: time + LOOKAHEAD + 1 < END -> send(time + LOOKAHEAD + 1, (i + 1) % N)
        :: child = 2                        /* no more */
        fi
    :: else -> break
    od;
    pending--
}

inline send(when, whom) {
    born++;
    pending++;
    at = when;
    to = whom;
    if
    :: odd -> flight[to].odd[at]++
    :: else -> flight[to].even[at]++
    fi;
    sent.to[to]++;
    if
    :: at < sent_net -> sent_net = at
    :: else
    fi
}

#if defined(UNSAFE) || defined(WITHOUT_COUNTS)
#define ARRIVED true
#elif defined(WITHOUT_WINDOW)
#define ARRIVED got_even[me] + got_odd[me] >= awaited
#else
#define ARRIVED (odd && got_odd[me] >= need) || (!odd && got_even[me] >= need)
#endif

active [N] proctype dispatcher() {
    byte me = _pid - 1, until, need, time, at, to, child, sent_net = NEVER;
    bit odd;                                /* the window last run; set-up was an even one */
    counts sent;
#ifdef WITHOUT_WINDOW
    byte awaited;
#endif
    atomic {                                /* it begins with no event, or one */
        if
        :: born++; pending++; held[me].at[0]++
        :: born++; pending++; held[me].at[1]++
        :: true
        fi
    }
    do
    :: atomic {
        earliest(me, time);
#if !defined(UNSAFE) && !defined(WITHOUT_SENT)
        if
        :: sent_net < time -> time = sent_net
        :: else
        fi;
#endif
        report[me] ! time, sent;
        sent_net = NEVER; sent.to[0] = 0; sent.to[1] = 0; sent.to[2] = 0;
        time = 0; at = 0; to = 0; child = 0
       };
       atomic {
        grant[me] ? until, need;
        if
        :: until == 0 -> break
        :: else
        fi
       };
#ifdef WITHOUT_WINDOW
       awaited = awaited + need;
#endif
       atomic {
        ARRIVED;
#if !defined(UNSAFE) && !defined(WITHOUT_COUNTS) && !defined(WITHOUT_WINDOW)
        assert((odd && got_odd[me] == need) || (!odd && got_even[me] == need));
        if
        :: odd -> got_odd[me] = 0
        :: else -> got_even[me] = 0
        fi;
#endif
        odd = !odd;
       };
       do
       :: atomic {
            earliest(me, time);
            if
            :: time < until ->
                assert(time >= next_time[me]);
                held[me].at[time]--;
                if                          /* the last of its time */
                :: held[me].at[time] == 0 -> next_time[me] = time + 1
                :: else -> next_time[me] = time
                fi;
                execute(me, time)
            :: else -> break
            fi
          }
       od
    od
}

active proctype authority() {
    byte net, least, until, i, before = 255;
    counts sent, need;
    do
    :: least = NEVER;
       i = 0;
       do
       :: i < N -> atomic {
            report[i] ? net, sent;
            need.to[0] = need.to[0] + sent.to[0];
            need.to[1] = need.to[1] + sent.to[1];
            need.to[2] = need.to[2] + sent.to[2];
            if
            :: net < least -> least = net
            :: else
            fi;
            i++
          }
       :: else -> break
       od;
       atomic {
        assert(executed != before);         /* a window in which nothing runs would be one for ever */
        before = executed;
        if
        :: least == NEVER -> assert(pending == 0); until = 0
        :: least + LOOKAHEAD < END -> until = least + LOOKAHEAD
        :: else -> until = END
        fi;
        grant[0] ! until, need.to[0]; grant[1] ! until, need.to[1]; grant[2] ! until, need.to[2];
        need.to[0] = 0; need.to[1] = 0; need.to[2] = 0;
        sent.to[0] = 0; sent.to[1] = 0; sent.to[2] = 0;
        i = 0
       };
       if
       :: until == 0 -> break
       :: else
       fi
    od
}
