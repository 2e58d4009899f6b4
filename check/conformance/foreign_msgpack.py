"""Reads what wire_test wrote with the msgpack library of Python, which nobody here wrote. Usage: foreign_msgpack.py FOLDER"""
import struct
import sys
from pathlib import Path

import msgpack

KINDS = {"HELLO": 1, "WELCOME": 2, "CONFIRM": 3, "HEARTBEAT": 4, "BYE": 5, "DONE": 6, "REFUSE": 7, "GRANT": 16, "NET": 17,
         "FAIL": 18, "LOG": 19, "RESULT": 20, "CONTROL": 21, "BATCH": 32}


def numbers(index):
    """The fields of sample event `index`, by the rule of samples.h."""
    mask = (1 << 64) - 1
    state = 0x9E3779B97F4A7C15 * (index + 1) & mask
    while True:
        state ^= state << 13 & mask
        state ^= state >> 7
        state ^= state << 17 & mask
        yield state


def check_batch(fields):
    window, count, time, sender, order, receiver, shard, lengths, payload = fields
    assert (window, count) == (77, 9), (window, count)
    columns = [struct.unpack(f"<{count}{code}", column)
               for code, column in zip("qQQQII", (time, sender, order, receiver, shard, lengths))]
    at = 0
    for i, (t, s, o, r, h, n) in enumerate(zip(*columns)):
        expect = numbers(i)
        assert t & (1 << 64) - 1 == next(expect) and s == next(expect) and o == next(expect) and r == next(expect)
        assert h == next(expect) & 0xFFFFF and n == (0 if i % 5 == 4 else i % 33)
        assert payload[at:at + n] == bytes(next(expect) & 255 for _ in range(n))
        at += n
    assert at == len(payload)


for name, number in KINDS.items():
    version, kind, *fields = msgpack.unpackb((Path(sys.argv[1]) / f"{name}.msgpack").read_bytes(), raw=True)
    assert (version, kind) == (1, number), (name, version, kind)
    if name == "BATCH":
        check_batch(fields)
    if name == "GRANT":
        assert fields == [1 << 20, -5, 0, (1 << 63) - 1, (1 << 32) - 1, 2, struct.pack("<3I", 0, 70000, (1 << 32) - 1)], fields
    if name == "CONTROL":
        assert fields == [6, -129, b"pause", b"\xff"], fields
print(len(KINDS), "messages read by msgpack", ".".join(map(str, msgpack.version)))
