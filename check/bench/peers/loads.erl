%% The mail loads and PHOLD in Erlang, one process an agent; the table of `./dev bench --peers`.
%%
%%   erl -noshell +S THREADS -run loads main LOAD MESSAGES [AGENTS]
%%
%% Erlang has no virtual time: steps are not kept apart, and PHOLD's events carry a time but run in any order. Where the
%% yardstick's sender wakes itself for its next batch, the receiver of the batch does, so that mailboxes stay bounded.
-module(loads).
-export([main/1]).

main([Load, Messages | Rest]) ->
    Count = list_to_integer(Messages),
    Start = prepare(Load, Count, Rest),
    From = erlang:monotonic_time(),
    Done = Start(),
    Seconds = (erlang:monotonic_time() - From) / erlang:convert_time_unit(1, second, native),
    io:format("messages ~b seconds ~.3f events_per_s ~b~n", [Done, Seconds, round(Done / Seconds)]),
    halt(0).

%% Makes the processes; gives what starts them, waits, and returns the number of messages delivered.
prepare("pingpong", Count, _) -> ring(2, 1, Count);
prepare("ring", Count, _) -> ring(503, 1, Count);
prepare("tokens", Count, _) -> ring(503, 503, Count);
prepare("all", Count, _) -> tokens(publish([spawn_link(thrower(self(), Seed)) || Seed <- lists:seq(1, 120)]), 1200, Count);
prepare("counting", Count, _) -> batches(1, 1000, Count);
prepare("many", Count, _) -> batches(100, 10, Count);
prepare("phold", Count, [Agents]) ->
    N = list_to_integer(Agents),
    Main = self(),
    All = publish([spawn_link(fun() -> phold(Main, N, rand:mwc59_seed(Seed)) end) || Seed <- lists:seq(1, N)]),
    End = Count / N,                        % a mean delay is 1
    fun() ->
        [element(I, All) ! {event, -math:log(rand:uniform()), 0, End} || I <- lists:seq(1, N)],
        lists:sum([receive {ended, Hops} -> Hops end || _ <- lists:seq(1, N)])
    end.

%% All processes, where each can read them without a copy of its own.
publish(Pids) ->
    All = list_to_tuple(Pids),
    persistent_term:put(all, All),
    All.

%% Agents that pass tokens around; a token ends after its share of the hops.
ring(N, Tokens, Count) ->
    Main = self(),
    Last = spawn_link(fun() -> receive {next, First} -> pass(Main, First) end end),
    First = lists:foldl(fun(_, Next) -> spawn_link(fun() -> pass(Main, Next) end) end, Last, lists:seq(2, N)),
    Last ! {next, First},
    tokens({First}, Tokens, Count).

tokens(To, Tokens, Count) ->
    Hops = Count div Tokens,
    fun() ->
        [element(1 + I rem tuple_size(To), To) ! {token, Hops - 1} || I <- lists:seq(1, Tokens)],
        [receive ended -> ok end || _ <- lists:seq(1, Tokens)],
        Hops * Tokens
    end.

pass(Main, Next) ->
    receive
        {token, 0} -> Main ! ended;
        {token, Left} -> Next ! {token, Left - 1}
    end,
    pass(Main, Next).

thrower(Main, Seed) -> fun() -> throw_on(Main, rand:mwc59_seed(Seed)) end.
throw_on(Main, State) ->
    Next = rand:mwc59(State),
    receive
        {token, 0} -> Main ! ended;
        {token, Left} -> element(1 + below(Next, 120), persistent_term:get(all)) ! {token, Left - 1}
    end,
    throw_on(Main, Next).

below(State, N) -> (rand:mwc59_value32(State) * N) bsr 32.

%% Senders that send a batch to one counter, which wakes them for the next.
batches(Senders, Batch, Count) ->
    Main = self(),
    Counter = spawn_link(fun() -> count(Main, 0, Count) end),
    All = [spawn_link(fun() -> produce(Counter, Batch) end) || _ <- lists:seq(1, Senders)],
    fun() ->
        [Pid ! more || Pid <- All],
        receive {counted, Counted} -> Counted + Counted div Batch end
    end.

count(Main, Count, Count) -> Main ! {counted, Count};
count(Main, N, Count) ->
    receive
        {parcel, _} -> ok;
        {last, _, Sender} -> Sender ! more
    end,
    count(Main, N + 1, Count).

produce(Counter, Batch) ->
    receive more -> batch(Counter, Batch) end,
    produce(Counter, Batch).

batch(Counter, 1) -> Counter ! {last, 1, self()};
batch(Counter, Left) -> Counter ! {parcel, Left}, batch(Counter, Left - 1).

phold(Main, N, State0) ->
    State1 = rand:mwc59(State0),
    State2 = rand:mwc59(State1),
    receive
        {event, Time, Hops, End} when Time >= End -> Main ! {ended, Hops};
        {event, Time, Hops, End} ->
            Delay = 0.1 - 0.9 * math:log((rand:mwc59_value32(State2) + 1) / 4294967296),
            element(1 + below(State1, N), persistent_term:get(all)) ! {event, Time + Delay, Hops + 1, End}
    end,
    phold(Main, N, State2).
