// What happens on the shelf, as the server tells it: rows change while they are looked at.

import { announce, complain, refreshSoon, root, word } from "./pages.js";

// MARK: How things are written

const units = ["B", "kB", "MB", "GB", "TB"];

export function bytes(count) {
  let unit = 0;
  while (count >= 999.95 && unit < units.length - 1) [count, unit] = [count / 1000, unit + 1];
  return unit ? `${count.toFixed(1)} ${units[unit]}` : `${count} B`;
}

export function clock(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  const two = n => String(n).padStart(2, "0");
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

const moving = change =>
  [
    change.size ? word("bytesOf", { done: bytes(change.bytes_done), all: bytes(change.size) }) : bytes(change.bytes_done ?? 0),
    change.bytes_per_second > 0 && word("perSecond", { bytes: bytes(Math.round(change.bytes_per_second)) }),
    change.seconds_left > 0 && word("timeLeft", { time: clock(change.seconds_left) }),
  ].filter(Boolean).join(" · ");

// MARK: Rows

const key = (source, book, id) => JSON.stringify([source, book, id]);
let rows = new Map();

function indexRows() {
  rows = new Map([...document.querySelectorAll("[data-row][data-id]")].map(
    row => [key(row.dataset.source, row.dataset.book, row.dataset.id), row]));
}
indexRows();
document.addEventListener("shown", indexRows);

function showProgress(row, change) {
  row.classList.remove("is-absent", "is-waiting", "is-paused", "is-failed", "is-interrupted", "is-cancelled");
  row.classList.add("is-downloading");
  const state = row.querySelector(".state");
  const mark = state.querySelector(".mark");
  if (mark.textContent !== word("state.downloading")) mark.textContent = word("state.downloading");
  let bar = state.querySelector("progress");
  if (!bar) {
    bar = document.createElement("progress");
    bar.setAttribute("aria-label", row.dataset.name);
    mark.after(bar);
  }
  bar.max = Math.max(change.size ?? 0, change.bytes_done ?? 0, 1);
  bar.value = change.bytes_done ?? 0;
  state.querySelector(".moving").textContent = moving(change);
}

const said = { finished: "saidFinished", failed: "saidFailed", paused: "saidPaused", cancelled: "saidCancelled" };

const rowOf = episode => rows.get(key(episode.source, episode.book_id, episode.id));

let version;

/** What moves, as a whole: whatever was missed meanwhile is in it, or in the page that is asked for anew. */
function show(shelf) {
  let isHere = false;
  const known = new Set();
  for (const episode of shelf.moving) {
    const row = rowOf(episode);
    if (!row) continue;
    known.add(row);
    if (!row.matches(".is-downloading")) {
      announce(word("saidStarted", { name: row.dataset.name }), row.dataset.name);
      isHere = true;
    }
    showProgress(row, episode);
  }
  for (const episode of shelf.ended) {
    const row = rowOf(episode);
    if (!row) continue;
    isHere = true;
    if (said[episode.state]) announce(word(said[episode.state], { name: row.dataset.name }), row.dataset.name);
  }
  // It ended before there was a look at it.
  for (const row of rows.values()) isHere ||= row.matches(".is-downloading") && !known.has(row);
  showRun(shelf.runs[0]);
  const isOther = version && version !== shelf.version;
  version = shelf.version;
  if (isHere || (isOther && (rows.size || document.querySelector("[data-part], #runs")))) refreshSoon(isHere ? 300 : 1500);
}

function showRun(moved) {
  const run = document.getElementById("run");
  if (!run) return;
  run.hidden = !moved?.episodes;
  if (run.hidden) return;
  run.querySelector("progress").value = moved.share_done;
  run.querySelector("span").textContent =
    [`${moved.episodes_done} / ${moved.episodes}`, moving(moved)].join(" · ");
}

/** What the stream does not tell of, such as the joining of a book, is looked at again and again. */
const lookAgain = () => !document.hidden && document.querySelector("main [data-moves]") && refreshSoon(3000);
lookAgain();
document.addEventListener("shown", lookAgain);

// MARK: The stream

let stream;
let wasLost = false;
let again = 0;

function listen() {
  if ("still" in document.body.dataset) return;
  clearTimeout(again);
  stream?.close();
  stream = new EventSource(`${root}/api/v1/events`);
  stream.addEventListener("open", () => {
    complain("");
    if (wasLost) refreshSoon(0);
    wasLost = false;
  });
  stream.addEventListener("shelf", event => show(JSON.parse(event.data)));
  stream.addEventListener("error", () => {
    wasLost = true;
    // A short break is none: phones sleep, servers restart.
    setTimeout(() => wasLost && !document.hidden && complain(word("lostServer")), 2500);
    if (stream.readyState !== EventSource.CLOSED) return;
    // Refused: perhaps one has to log in again.
    refreshSoon(0);
    again = setTimeout(listen, 3000);
  });
}

// A page that nobody looks at listens to nothing: browsers keep few connections to a server.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    clearTimeout(again);
    stream?.close();
  } else {
    refreshSoon(0);
    listen();
  }
});
addEventListener("pagehide", () => stream?.close());
addEventListener("pageshow", event => event.persisted && listen());
if (!document.hidden) listen();
