// data.js: what a run publishes, read from its publish socket: messages `topic NUL msgpack`, see docs/formats_wire.md.
'use strict';

const text = new TextDecoder();

// One msgpack value; integers beyond 2^53 lose their last digits.
function unpack(bytes, from) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = from;
  const take = count => { at += count; return at - count; };
  const string = count => text.decode(bytes.subarray(take(count), at));
  const list = count => Array.from({ length: count }, value);
  const map = count => {
    const pairs = {};
    for (let i = 0; i < count; i++) { const key = value(); pairs[key] = value(); }
    return pairs;
  };
  function value() {
    const tag = view.getUint8(take(1));
    if (tag < 0x80) return tag;
    if (tag < 0x90) return map(tag & 15);
    if (tag < 0xa0) return list(tag & 15);
    if (tag < 0xc0) return string(tag & 31);
    if (tag >= 0xe0) return tag - 256;
    switch (tag) {
      case 0xc0: return null;
      case 0xc2: return false;
      case 0xc3: return true;
      case 0xc4: return bytes.slice(take(view.getUint8(take(1))), at);
      case 0xc5: return bytes.slice(take(view.getUint16(take(2))), at);
      case 0xc6: return bytes.slice(take(view.getUint32(take(4))), at);
      case 0xca: return view.getFloat32(take(4));
      case 0xcb: return view.getFloat64(take(8));
      case 0xcc: return view.getUint8(take(1));
      case 0xcd: return view.getUint16(take(2));
      case 0xce: return view.getUint32(take(4));
      case 0xcf: return Number(view.getBigUint64(take(8)));
      case 0xd0: return view.getInt8(take(1));
      case 0xd1: return view.getInt16(take(2));
      case 0xd2: return view.getInt32(take(4));
      case 0xd3: return Number(view.getBigInt64(take(8)));
      case 0xd9: return string(view.getUint8(take(1)));
      case 0xda: return string(view.getUint16(take(2)));
      case 0xdb: return string(view.getUint32(take(4)));
      case 0xdc: return list(view.getUint16(take(2)));
      case 0xdd: return list(view.getUint32(take(4)));
      case 0xde: return map(view.getUint16(take(2)));
      case 0xdf: return map(view.getUint32(take(4)));
      default: throw new Error(`msgpack ${tag}`);
    }
  }
  return value();
}

// Subscribes and, when the link is lost, again. Calls on.message(topic, value, gap, again), on.up(), on.down().
// gap: messages of this topic missed before this one; again: it has been seen already.
function subscribe(url, on) {
  let counters = new Map(), ended = false;
  function receive(event) {
    const bytes = new Uint8Array(event.data), end = bytes.indexOf(0);
    if (end < 1) return;
    const topic = text.decode(bytes.subarray(0, end)), [counter, value] = unpack(bytes, end + 1);
    const before = counters.get(topic) ?? counter - 1;
    counters.set(topic, Math.max(before, counter));
    on.message(topic, value, Math.max(counter - before - 1, 0), counter <= before);
  }
  function connect() {
    const socket = new WebSocket(url, 'pub.sp.nanomsg.org');
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => { counters = new Map(); on.up(); };
    socket.onmessage = receive;
    socket.onclose = () => { if (!ended) { on.down(); setTimeout(connect, 1000); } };
  }
  connect();
  return () => { ended = true; };            // do not come back when the link goes
}
