#!/usr/bin/env bash
# Clients that nobody here wrote read the publish socket: nngcat and nanocat over ipc, tcp and ws; what they write is decoded by
# Python's msgpack. Usage: subscribers.sh PUBLISH_TEST_PROGRAM
set -euo pipefail
program=$1
folder=$(mktemp -d)
feed=
trap '[[ ! $feed ]] || kill "$feed" 2>/dev/null || true; rm -rf "$folder"' EXIT
for tool in nngcat nanocat; do
    command -v "$tool" >/dev/null || { echo "missing: $tool (Debian packages nng-utils, nanomsg-utils)"; exit 1; }
done
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
urls=("ipc://$folder/p" "tcp://127.0.0.1:$(port)" "ws://127.0.0.1:$(port)/publish")
"$program" feed 60 "${urls[@]}" &
feed=$!
sleep 0.5

# check FILE TOPIC COUNT: one message a line, as "\x01\x02...": the right topic, counters that go on, values that decode
check() {
    /usr/bin/python3 - "$@" <<'PYTHON'
import sys
import msgpack
path, topic, count = sys.argv[1], sys.argv[2].encode(), int(sys.argv[3])
lines = [line for line in open(path) if line.startswith('"')]
assert len(lines) >= count, f"{len(lines)} messages"
last = None
for line in lines:
    frame = bytes.fromhex(line.strip().strip('"').replace("\\x", ""))
    name, nul, payload = frame.partition(b"\0")
    assert name == topic and nul, frame
    counter, value = msgpack.unpackb(payload)
    assert last is None or counter in (last, last + 1), (last, counter)     # the same again when somebody has connected
    last = counter
    if topic == b"run":
        assert value == {"model": "example", "seed": (1 << 64) - 1, "speed": 2.5, "running": True, "values": [1.0, -2.25],
                         "picture": b"\0\1\2", "offset": -3}, value
    else:
        assert topic != b"clock" or value["tick"] == (counter - 1) * 10, (counter, value)
PYTHON
}

for url in "${urls[@]}"; do
    scheme=${url%%:*}
    timeout 20 nngcat --sub --dial "$url" --subscribe run --hex --count 1 >"$folder/run"
    check "$folder/run" run 1
    timeout 20 nngcat --sub --dial "$url" --subscribe clock --hex --count 100 >"$folder/clock"
    check "$folder/clock" clock 100
    timeout 2 nanocat --sub --connect "$url" --subscribe load/ --hex >"$folder/load" || true
    check "$folder/load" load/a 3
    timeout 2 nanocat --sub --connect "$url" --subscribe run --hex >"$folder/run" || true
    check "$folder/run" run 1
    echo "nngcat and nanocat over $scheme: read"
done
kill "$feed"
wait "$feed" || true
feed=
