// page.js: shows what data.js receives. Messages only note what is new; drawing happens once a frame, and not at all while
// the page is out of sight. What is kept is bounded, so that a page may stay open for days.
'use strict';

const LOG_LINES = 200, POINTS = 400, SPARK = { width: 300, height: 60 };
const $ = id => document.getElementById(id);
const dark = matchMedia('(prefers-color-scheme: dark)');
const now = { run: null, clock: null, loads: new Map(), pictures: new Map(), reporters: new Map(), missed: 0, up: false, lost: false };
const fresh = new Set();                     // what is to be drawn anew
let log = [], leave = () => {};
const token = location.hash.slice(1);

// ---- texts ----
function number(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return '–';
  if (Number.isInteger(x) && Math.abs(x) < 1e15) return x.toLocaleString('en').replaceAll(',', '\u202f');
  return Math.abs(x) >= 1e6 || (x !== 0 && Math.abs(x) < 1e-3) ? x.toExponential(3) : String(Number(x.toPrecision(5)));
}
function large(x) {
  for (const [size, name] of [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']])
    if (x >= size) return `${(x / size).toFixed(x / size < 10 ? 1 : 0)} ${name}`;
  return x >= 10 || Number.isInteger(x) ? x.toFixed(0) : x.toPrecision(2);
}
const bytes = x => x >= 1 << 30 ? `${(x / 2 ** 30).toFixed(1)} GiB` : `${(x / 2 ** 20).toFixed(0)} MiB`;
function duration(s) {
  if (s < 60) return `${s.toFixed(s < 10 ? 1 : 0)} s`;
  if (s < 3600) return `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, '0')} min`;
  return `${Math.floor(s / 3600)} h ${String(Math.floor(s / 60) % 60).padStart(2, '0')} min`;
}
function element(name, className, content) {
  const e = document.createElement(name);
  if (className) e.className = className;
  if (content !== undefined) e.textContent = content;
  return e;
}
function setText(e, content) { if (e.textContent !== content) e.textContent = content; }
function fill(list, pairs) {                 // a <dl>; keeps its elements where the names stay
  if (list.dataset.names !== Object.keys(pairs).join()) {
    list.replaceChildren(...Object.keys(pairs).map(name => {
      const box = element('div');
      box.append(element('dt', '', name), element('dd'));
      return box;
    }));
    list.dataset.names = Object.keys(pairs).join();
  }
  Object.values(pairs).forEach((value, i) => setText(list.children[i].lastChild, value));
}

// ---- state, clock ----
function drawState() {
  const over = now.run?.state === 'end', paused = now.clock?.paused && now.clock.running;
  const [name, look] = over ? [now.run.status === 'ok' ? 'ended' : now.run.status, now.run.status === 'ok' ? 'over' : 'bad']
    : now.lost ? ['link lost', 'bad'] : !now.up || !now.run ? ['connecting', 'waiting'] : paused ? ['paused', 'waiting'] : ['running', 'good'];
  setText($('state'), name);
  $('state').className = `state ${look}`;
  document.title = now.run ? `${now.run.model} – ${name}` : 'Nima';
  const may = token && now.run && !over;
  $('control').hidden = !may;
  $('view-only').hidden = Boolean(token) || over || !now.run;
  $('pause').disabled = $('stop').disabled = now.lost;
  setText($('pause'), paused ? 'Resume' : 'Pause');
  const missed = now.missed ? `${number(now.missed)} messages missed: this page or its link was too slow` : '';
  const notice = over ? now.run.error ?? '' : now.lost ? 'The link to the run is lost. Trying again; what you see may be old.' : missed;
  $('notice').hidden = !notice;
  $('notice').classList.toggle('bad', over || now.lost);
  setText($('notice'), notice);
  setText($('missed'), now.missed ? missed : '');
}
function drawClock() {
  const c = now.clock, r = now.run;
  if (!c || !r) return;
  const units = t => `${number(t / r.ticks_per_unit)} ${r.unit}`;
  const share = c.until ? Math.min(c.time / c.until, 1) : c.running ? 0 : 1;
  $('done').style.width = `${100 * share}%`;
  const over = r.state === 'end', mean = over && r.wall_s > 0;
  const facts = {
    [c.until ? `time, of ${units(c.until)}` : 'time']: units(c.time),
    [mean ? 'mean speed' : 'speed']: `${large(mean ? c.time / r.ticks_per_unit / r.wall_s : c.speed)} ${r.unit}/s`,
    events: large(over ? r.events : c.events),
    'events per second': large(mean ? r.events / r.wall_s : c.events_per_s),
    'wall time': duration(over ? r.wall_s : c.wall_s),
  };
  if (c.until && c.running && share > 0.001 && c.speed > 0) facts['time left'] = duration((c.until - c.time) / r.ticks_per_unit / c.speed);
  if (c.lag_s > 0.1) facts['behind its speed'] = duration(c.lag_s);
  fill($('facts'), facts);
}
function drawRun() {
  const r = now.run;
  setText($('model'), r.model);
  fill($('parameters'), { ...r.parameters, seed: String(r.seed), threads: String(r.threads), dispatchers: String(r.dispatchers) });
  setText($('folder'), r.out);
  $('outcome').hidden = r.state !== 'end' || !r.results || !Object.keys(r.results).length;
  if (r.state !== 'end') return;
  const results = Object.fromEntries(Object.entries(r.results ?? {}).map(([name, x]) => [name, typeof x === 'number' ? number(x) : String(x)]));
  fill($('outcome').querySelector('dl'), { ...results, ...(r.fingerprint ? { fingerprint: r.fingerprint } : {}) });
}

// ---- picture ----
const light = [[64, 36, 140], [214, 62, 82], [252, 190, 70]], night = [[255, 238, 176], [240, 112, 92], [128, 92, 235]];
function palette() {
  const stops = dark.matches ? night : light, colors = new Uint32Array(256), view = new DataView(colors.buffer);
  const put = (i, [r, g, b]) => { view.setUint8(4 * i, r); view.setUint8(4 * i + 1, g); view.setUint8(4 * i + 2, b); view.setUint8(4 * i + 3, 255); };
  put(0, dark.matches ? [12, 11, 16] : [248, 247, 244]);
  for (let i = 1; i < 256; i++) {
    const place = (i - 1) / 254 * 2, k = Math.min(Math.floor(place), 1);
    put(i, stops[k].map((c, n) => Math.round(c + (stops[k + 1][n] - c) * (place - k))));
  }
  return colors;
}
function takePicture(name, m, gap, again) {
  let p = now.pictures.get(name);
  if (m.pixels && !(again && p?.whole)) {
    if (!p) now.pictures.set(name, p = { canvas: null });
    Object.assign(p, { width: m.width, height: m.height, pixels: m.pixels, whole: true, stale: true });
  } else if (p && m.at) {
    const at = new DataView(m.at.buffer, m.at.byteOffset);
    for (let i = 0; i < m.to.length; i++) p.pixels[at.getUint32(4 * i, true)] = m.to[i];
    if (gap) p.whole = false;                // until the next whole one
    p.stale = true;
  }
}
function drawPictures() {
  const colors = palette();
  for (const [name, p] of now.pictures) {
    if (!p.canvas) {
      const card = element('figure', 'card picture');
      card.style.margin = 0;
      p.canvas = element('canvas');
      p.canvas.setAttribute('role', 'img');
      p.canvas.setAttribute('aria-label', name);
      card.append(element('h2', '', name), p.canvas);
      $('pictures').append(card);
      document.querySelector('main').classList.add('with-picture');
    }
    if (!p.stale) continue;
    p.stale = false;
    if (p.canvas.width !== p.width || p.canvas.height !== p.height || !p.image) {
      p.canvas.width = p.width;
      p.canvas.height = p.height;
      p.image = new ImageData(p.width, p.height);
    }
    const to = new Uint32Array(p.image.data.buffer);
    for (let i = 0; i < to.length; i++) to[i] = colors[p.pixels[i]];
    p.canvas.getContext('2d').putImageData(p.image, 0, 0);
    p.canvas.dataset.drawn = (Number(p.canvas.dataset.drawn) || 0) + 1;
  }
}

// ---- reporters ----
function takeReport(m) {
  for (const [name, value] of Object.entries(m.values)) {
    let r = now.reporters.get(name);
    if (!r) now.reporters.set(name, r = { points: [], every: 1, skipped: 0 });
    r.value = value;
    if (Array.isArray(value) || value === null || Number.isNaN(value) || ++r.skipped < r.every) continue;
    r.skipped = 0;
    r.points.push([m.time, value]);
    if (r.points.length <= POINTS) continue;
    r.points = r.points.filter((_, i) => i % 2 === 0);       // half as fine, twice as long
    r.every *= 2;
  }
}
function spark(points) {
  const times = points.map(p => p[0]), values = points.map(p => p[1]);
  const from = times[0], to = Math.max(times.at(-1), from + 1), low = Math.min(...values), high = Math.max(...values, low + 1e-12);
  return points.map(([t, v]) => `${((t - from) / (to - from) * SPARK.width).toFixed(1)},${((high - v) / (high - low) * (SPARK.height - 4) + 2).toFixed(1)}`);
}
function bars(values) {
  const high = Math.max(...values, 1e-12), width = SPARK.width / values.length;
  return values.map((v, i) => `M${(i * width).toFixed(1)},${SPARK.height}v${(-v / high * SPARK.height).toFixed(1)}h${(width * .9).toFixed(1)}V${SPARK.height}z`).join('');
}
function drawReporters() {
  for (const [name, r] of now.reporters) {
    if (!r.card) {
      r.card = element('div', 'card reporter');
      r.card.append(element('h2', '', name), element('span', 'value'), element('span', 'unit', now.run?.reporters?.[name] ?? ''));
      const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
      svg.setAttribute('viewBox', `0 0 ${SPARK.width} ${SPARK.height}`);
      svg.setAttribute('preserveAspectRatio', 'none');
      svg.setAttribute('aria-hidden', 'true');
      for (const kind of ['area', 'line']) {
        const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
        path.setAttribute('class', kind);
        svg.append(path);
      }
      [r.area, r.line] = svg.children;
      r.card.append(svg);
      $('reporters').append(r.card);
    }
    if (Array.isArray(r.value)) {
      setText(r.card.children[1], `${number(r.value.reduce((a, b) => a + b, 0))} in ${r.value.length} bins`);
      r.area.setAttribute('d', bars(r.value));
      continue;
    }
    setText(r.card.children[1], number(r.value));
    if (r.points.length < 2) continue;
    const line = spark(r.points);
    r.line.setAttribute('d', `M${line.join('L')}`);
    r.area.setAttribute('d', `M0,${SPARK.height}L${line.join('L')}V${SPARK.height}z`);
  }
}

// ---- load ----
function workerRow() {
  const row = element('div', 'worker'), bar = element('div', 'bar');
  bar.append(element('div'));
  row.append(element('span'), bar, element('span'));
  return row;
}
function drawLoads() {
  for (const [number_, l] of [...now.loads].sort((a, b) => a[0] - b[0])) {
    const many = now.run?.dispatchers > 1;
    if (!l.box) {
      l.box = element('div', 'dispatcher');
      l.box.append(element('div', 'title'), element('div', 'workers'));
      l.box.firstChild.append(element('span'), element('span'));
      const after = [...$('load').children].find(other => Number(other.dataset.number) > number_);
      l.box.dataset.number = number_;
      $('load').insertBefore(l.box, after ?? null);
    }
    const m = l.message, [title, rows] = l.box.children;
    setText(title.children[0], many ? `dispatcher ${number_} on ${m.node}` : m.node);
    setText(title.children[1], `${large(m.events_per_s)} events/s · CPU ${m.cpu.toFixed(2)} · ${bytes(m.memory)}` +
      (m.net_ms === undefined ? '' : ` · NET ${m.net_ms} ms`));
    while (rows.children.length < m.worker_busy.length) rows.append(workerRow());
    m.worker_busy.forEach((busy, w) => {
      const row = rows.children[w], core = m.worker_core[w], region = m.worker_region[w];
      setText(row.children[0], core < 0 ? `worker ${w}` : `core ${core}`);
      row.title = `worker ${w}` + (region < 0 ? '' : `, NUMA region ${region}`) + `, CPU ${m.worker_cpu[w].toFixed(2)}`;
      row.children[1].firstChild.style.width = `${Math.min(100 * busy, 100)}%`;
      setText(row.children[2], `${large(m.worker_events_per_s[w])}/s`);
    });
  }
}

// ---- log ----
function takeLog(m) {
  log.push(m.line);
  if (log.length > 2 * LOG_LINES) log = log.slice(-LOG_LINES);
}
function drawLog() {
  const list = $('log'), end = list.scrollHeight - list.scrollTop - list.clientHeight < 30;
  list.replaceChildren(...log.slice(-LOG_LINES).map(line => element('li', / (error|warning): /.exec(line)?.[1] ?? '', line)));
  if (end) list.scrollTop = list.scrollHeight;
}

// ---- control ----
async function command(name) {
  try {
    const answer = await fetch(`/${name}`, { method: 'POST', headers: { Authorization: `Bearer ${token}` } });
    if (!answer.ok) alertOnce(`${name}: ${await answer.text()}`);
  } catch { alertOnce(`${name}: the run does not answer`); }
}
function alertOnce(what) {
  $('notice').hidden = false;
  setText($('notice'), what);
  setTimeout(() => { fresh.add(drawState); draw(); }, 4000);
}
$('pause').onclick = () => command(now.clock?.paused ? 'resume' : 'pause');
$('stop').onclick = event => {
  const button = event.currentTarget;
  if (button.classList.contains('sure')) { command('stop'); return; }
  button.classList.add('sure');
  setText(button, 'Really?');
  setTimeout(() => { button.classList.remove('sure'); setText(button, 'Stop'); }, 3000);
};

// ---- all together ----
let asked = false;
function draw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    for (const part of fresh) part();
    fresh.clear();
  });
}
function onMessage(topic, m, gap, again) {
  if (gap) { now.missed += gap; fresh.add(drawState); }
  if (topic === 'run') {
    now.run = m;
    if (m.state === 'end') leave();
    fresh.add(drawRun).add(drawState).add(drawClock).add(drawLoads).add(drawReporters);
  } else if (topic === 'clock') {
    if (m.paused !== now.clock?.paused || m.running !== now.clock?.running) fresh.add(drawState);
    now.clock = m;
    fresh.add(drawClock);
  } else if (topic === 'report') {
    if (!again) takeReport(m);
    fresh.add(drawReporters);
  } else if (topic.startsWith('load/')) {
    const number_ = Number(topic.slice(5));
    now.loads.set(number_, Object.assign(now.loads.get(number_) ?? {}, { message: m }));
    fresh.add(drawLoads);
  } else if (topic.startsWith('picture/')) {
    takePicture(topic.slice(8), m, gap, again);
    fresh.add(drawPictures);
  } else if (topic.startsWith('values/')) {
    const name = topic.slice(7);
    now.reporters.set(name, Object.assign(now.reporters.get(name) ?? { points: [], every: 1, skipped: 0 }, { value: m.values }));
    fresh.add(drawReporters);
  } else if (topic.startsWith('log/')) {
    takeLog(m);
    fresh.add(drawLog);
  }
  draw();
}
dark.onchange = () => { for (const p of now.pictures.values()) p.stale = true; fresh.add(drawPictures); draw(); };
leave = subscribe(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/publish`, {
  message: onMessage,
  up: () => { now.up = true; now.lost = false; fresh.add(drawState); draw(); },
  down: () => { now.lost = now.up || now.lost; fresh.add(drawState); draw(); },
});
