// The mail loads and PHOLD in CAF 0.17, one event-based actor an agent; the table of `./dev bench --peers`.
//
//   loads THREADS LOAD MESSAGES [AGENTS]
//
// CAF has no virtual time: steps are not kept apart, and PHOLD's events carry a time but run in any order. Where the
// yardstick's sender wakes itself for its next batch, the receiver of the batch does, so that mailboxes stay bounded.
#include <caf/all.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

using namespace caf;

namespace {

std::vector<actor> all;                     // written before the start only
actor parent;                               // hears of ends
double end_time;

struct numbers {                            // splitmix64
    uint64_t state;
    uint64_t next() {
        uint64_t x = state += 0x9E3779B97F4A7C15u;
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
        x = (x ^ x >> 27) * 0x94D049BB133111EBu;
        return x ^ x >> 31;
    }
    size_t below(size_t n) { return static_cast<size_t>(static_cast<unsigned __int128>(next()) * n >> 64); }
    double uniform() { return static_cast<double>((next() >> 11) + 1) * 0x1p-53; }
};

behavior passer(event_based_actor *self, size_t next) {
    return { [=](int64_t left) {
        if (left == 0) self->send(parent, int64_t{0});
        else self->send(all[next], left - 1);
    } };
}

behavior thrower(stateful_actor<numbers> *self, uint64_t seed) {
    self->state.state = seed;
    return { [=](int64_t left) {
        if (left == 0) self->send(parent, int64_t{0});
        else self->send(all[self->state.below(all.size())], left - 1);
    } };
}

// Counts messages; the last of a batch has the number 1, and wakes its sender for the next.
behavior counter(stateful_actor<int64_t> *self, int64_t wanted) {
    self->state = 0;
    return { [=](int64_t number) {
        if (++self->state == wanted) self->send(parent, wanted);
        else if (number == 1) self->send(actor_cast<actor>(self->current_sender()), int64_t{0});
    } };
}
behavior producer(event_based_actor *self, int64_t batch) {
    return { [=](int64_t) {
        for (int64_t number = batch; number > 0; number--) self->send(all[0], number);
    } };
}

behavior phold(stateful_actor<numbers> *self, uint64_t seed) {
    self->state.state = seed;
    return { [=](double time, int64_t hops) {
        if (time >= end_time) { self->send(parent, hops); return; }
        double delay = 0.1 - 0.9 * std::log(self->state.uniform());
        self->send(all[self->state.below(all.size())], time + delay, hops + 1);
    } };
}

int64_t hear(scoped_actor &self, int64_t times) {
    int64_t sum = 0;
    while (times-- > 0) self->receive([&](int64_t x) { sum += x; });
    return sum;
}

// Makes the actors; gives what starts them, waits, and returns the number of messages delivered.
std::function<int64_t()> prepare(actor_system &system, scoped_actor &self, const std::string &load, int64_t count, size_t n) {
    auto tokens = [&self, count](int64_t k) {
        return [&self, count, k] {
            for (int64_t i = 0; i < k; i++) self->send(all[static_cast<size_t>(i + 1) % all.size()], count / k - 1);
            hear(self, k);
            return count / k * k;
        };
    };
    auto ring = [&](size_t size, int64_t k) {
        for (size_t i = 0; i < size; i++) all.push_back(system.spawn(passer, (i + 1) % size));
        return tokens(k);
    };
    auto batches = [&](size_t senders, int64_t batch) {
        all.push_back(system.spawn(counter, count));
        for (size_t i = 0; i < senders; i++) all.push_back(system.spawn(producer, batch));
        return [&self, batch] {
            for (size_t i = 1; i < all.size(); i++) self->send(all[i], int64_t{0});
            int64_t counted = hear(self, 1);
            return counted + counted / batch;
        };
    };
    if (load == "pingpong") return ring(2, 1);
    if (load == "ring") return ring(503, 1);
    if (load == "tokens") return ring(503, 503);
    if (load == "counting") return batches(1, 1000);
    if (load == "many") return batches(100, 10);
    if (load == "all") {
        for (uint64_t i = 0; i < 120; i++) all.push_back(system.spawn(thrower, i));
        return tokens(1200);
    }
    if (load == "phold" && n > 0) {
        for (uint64_t i = 0; i < n; i++) all.push_back(system.spawn(phold, i));
        end_time = static_cast<double>(count) / static_cast<double>(n);   // a mean delay is 1
        return [&self] {
            numbers random{12345};
            for (auto &a : all) self->send(a, -std::log(random.uniform()), int64_t{0});
            return hear(self, static_cast<int64_t>(all.size()));
        };
    }
    std::fprintf(stderr, "loads: no load '%s'\n", load.c_str());
    std::exit(2);
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 4) { std::fprintf(stderr, "usage: loads THREADS LOAD MESSAGES [AGENTS]\n"); return 2; }
    actor_system_config config;
    config.set("scheduler.max-threads", static_cast<size_t>(std::atoi(argv[1])));
    actor_system system{config};
    scoped_actor self{system};
    parent = actor_cast<actor>(self);
    auto start = prepare(system, self, argv[2], std::atoll(argv[3]), argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 0);
    auto from = std::chrono::steady_clock::now();
    int64_t done = start();
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - from;
    std::printf("messages %lld seconds %.3f events_per_s %.0f\n", static_cast<long long>(done), seconds.count(),
                static_cast<double>(done) / seconds.count());
    std::fflush(stdout);
    std::_Exit(0);                              // a hundred thousand actors need not be taken apart
}
