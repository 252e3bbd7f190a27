// The player: a bar that stays while the pages change, and goes on where the listener stopped.

import { announce, complain, mayChange, root, word } from "./pages.js";
import { clock } from "./live.js";

const bar = document.getElementById("player");
const audio = document.getElementById("audio");
const at = name => document.getElementById(`player-${name}`);
const seek = at("seek");
const toggle = bar.querySelector('[data-do="toggle"]');

/** What is played: what a button says of its episode. */
let now = null;
/** What comes before and after it, once its page told. */
let around = {};
/** Where the listener stopped, newer than what the page says. */
const stopped = new Map();

// MARK: Beginning

const described = button => ({ ...button.dataset });
const keyOf = it => JSON.stringify([it.source, it.book, it.id]);

/** Plays what a button describes; from where the listener stopped. */
function play(it) {
  save();
  now = it;
  around = {};
  const start = stopped.get(keyOf(it)) ?? Number(it.at) ?? 0;
  audio.src = it.play;
  audio.playbackRate = audio.defaultPlaybackRate = speed;
  if (start > 0) audio.addEventListener("loadedmetadata", () => startAt(it, start), { once: true });
  audio.play().catch(() => {});
  bar.hidden = false;
  at("page").href = it.page;
  at("name").textContent = it.title;
  at("book").textContent = [it.album, it.artist].filter(Boolean).join(" · ");
  at("cover").src = it.cover;
  announce(word("saidPlaying", { name: it.title }));
  describe();
  mark();
  lookAround(it);
}

function startAt(it, seconds) {
  if (now === it && !(seconds > audio.duration - 5)) audio.currentTime = seconds;
}

async function lookAround(it) {
  const other = async address => {
    if (!address) return null;
    const page = new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
    const button = page.querySelector("article .play[data-play]");
    return button ? { it: described(button), page } : null;
  };
  try {
    const mine = (await other(it.page))?.page.getElementById("around");
    const [before, after] = await Promise.all([other(mine?.dataset.previous), other(mine?.dataset.next)]);
    if (now !== it) return;
    around = { previous: before?.it, next: after?.it };
  } catch {
    // Without the server there is nothing beside it.
  }
  if (now === it) describe();
}

// MARK: What is shown

const icon = name => `#i-${name}`;

function mark() {
  const isPlaying = !audio.paused;
  toggle.querySelector("use").setAttribute("href", icon(isPlaying ? "pause" : "play"));
  toggle.setAttribute("aria-label", isPlaying ? toggle.dataset.pause : toggle.dataset.play);
  for (const button of document.querySelectorAll("main .play")) {
    const isThis = now && keyOf(described(button)) === keyOf(now);
    const sign = isThis && isPlaying ? "pause" : "play";
    if (button.querySelector("use").getAttribute("href") !== icon(sign)) button.querySelector("use").setAttribute("href", icon(sign));
    button.toggleAttribute("aria-pressed", false);
    if (isThis) button.setAttribute("aria-pressed", String(isPlaying));
    button.closest(".row")?.classList.toggle("is-playing", Boolean(isThis));
  }
}
document.addEventListener("shown", () => {
  mark();
  // What comes next may have arrived meanwhile.
  if (now && !around.next) lookAround(now);
});

function showTime() {
  const length = Number.isFinite(audio.duration) ? audio.duration : 0;
  seek.max = Math.max(1, Math.floor(length));
  if (!isSeeking) seek.value = audio.currentTime;
  seek.setAttribute("aria-valuetext", `${clock(audio.currentTime)} / ${clock(length)}`);
  at("at").textContent = clock(audio.currentTime);
  at("left").textContent = length ? `−${clock(length - audio.currentTime)}` : "";
  if (length && navigator.mediaSession?.setPositionState) {
    navigator.mediaSession.setPositionState({
      duration: length, playbackRate: audio.playbackRate, position: Math.min(audio.currentTime, length),
    });
  }
}

function describe() {
  for (const name of ["previous", "next"]) bar.querySelector(`[data-do="${name}"]`).disabled = !around[name];
  const session = navigator.mediaSession;
  if (!session || !now) return;
  session.metadata = new MediaMetadata({
    title: now.title, artist: now.artist, album: now.album, artwork: [{ src: now.cover }],
  });
  const handlers = {
    play: () => audio.play(), pause: () => audio.pause(), stop: () => audio.pause(),
    seekbackward: it => skip(-(it.seekOffset ?? 15)), seekforward: it => skip(it.seekOffset ?? 15),
    seekto: it => (audio.currentTime = it.seekTime),
    previoustrack: around.previous ? does.previous : null, nexttrack: around.next ? does.next : null,
  };
  for (const [name, handler] of Object.entries(handlers)) {
    try {
      session.setActionHandler(name, handler);
    } catch {
      // This browser has no such key.
    }
  }
}

// MARK: Where the listener stopped

let savedAt = 0;
/** What was saved last: what did not move is not saved again, and does not undo what another device said. */
let saved = "";

function save(isFinished = false) {
  if (!now || !(audio.currentTime > 0 || isFinished)) return;
  const place = `${keyOf(now)} ${audio.currentTime}`;
  if (place === saved && !isFinished) return;
  saved = place;
  savedAt = Date.now();
  stopped.set(keyOf(now), isFinished ? 0 : audio.currentTime);
  if (!mayChange) return;
  const position = { source: now.source, book_id: now.book, id: now.id, seconds: audio.currentTime, finished: isFinished };
  if (Number.isFinite(audio.duration)) position.duration = audio.duration;
  // The page may be going away: the browser sends it all the same.
  fetch(`${root}/api/v1/position`, {
    method: "POST", keepalive: true, headers: { "Content-Type": "application/json" }, body: JSON.stringify({ position }),
  }).catch(() => {});
}

audio.addEventListener("timeupdate", () => {
  showTime();
  if (!audio.paused && Date.now() - savedAt > 10000) save();
});
audio.addEventListener("pause", () => {
  mark();
  if (!audio.ended) save();
});
audio.addEventListener("play", mark);
audio.addEventListener("loadedmetadata", showTime);
audio.addEventListener("error", () => {
  if (!now) return;
  const said = word("saidSkipped", { name: now.title });
  announce(said);
  complain(said);
});
audio.addEventListener("ended", async () => {
  save(true);
  if (sleep.value === "end") return goToSleep();
  const it = now;
  // At once where it is known: a phone that is locked lets a page that waits go to sleep.
  if (!around.next) await lookAround(it);
  if (now === it && audio.ended && around.next) play(around.next);
});
addEventListener("pagehide", () => save());
document.addEventListener("visibilitychange", () => document.hidden && save());

// MARK: Keys

function skip(seconds) {
  if (!now) return;
  audio.currentTime = Math.max(0, Math.min(audio.currentTime + seconds, (audio.duration || Infinity) - 0.1));
}

const does = {
  toggle: () => (audio.error ? play(now) : audio.paused ? audio.play().catch(() => {}) : audio.pause()),
  back: () => skip(-15), forward: () => skip(15), leap: () => skip(30),
  // As players do: first to the beginning, then to the one before.
  previous: () => (audio.currentTime > 5 ? (audio.currentTime = 0) : around.previous && play(around.previous)),
  next: () => around.next && play(around.next),
};

bar.addEventListener("click", event => does[event.target.closest("[data-do]")?.dataset.do]?.());

document.addEventListener("click", event => {
  const button = event.target.closest?.("main .play");
  if (!button) return;
  const it = described(button);
  if (now && keyOf(it) === keyOf(now)) does.toggle();
  else play(it);
});

document.addEventListener("keydown", event => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const isTyping = event.target.closest("input:not([type=range]), select, textarea, [contenteditable]");
  if (isTyping) return;
  if (event.key === "/") {
    event.preventDefault();
    return document.getElementById("q").focus();
  }
  if (!now) return;
  const isControl = event.target.closest("button, a, summary, input");
  const key = { " ": !isControl && "toggle", ArrowLeft: "back", ArrowRight: "forward" }[event.key];
  if (!key || (event.target === seek && event.key !== " ")) return;
  event.preventDefault();
  does[key]();
});

let isSeeking = false;
seek.addEventListener("input", () => {
  isSeeking = true;
  at("at").textContent = clock(seek.value);
});
seek.addEventListener("change", () => {
  isSeeking = false;
  audio.currentTime = Number(seek.value);
});

// MARK: Speed and sleep

const speeds = at("speed");
const remembered = (() => {
  try {
    return localStorage.getItem("booksync.speed");
  } catch {
    return null;
  }
})();
if ([...speeds.options].some(option => option.value === remembered)) speeds.value = remembered;
let speed = Number(speeds.value);
speeds.addEventListener("change", () => {
  speed = audio.playbackRate = audio.defaultPlaybackRate = Number(speeds.value);
  try {
    localStorage.setItem("booksync.speed", speeds.value);
  } catch {
    // It holds for this page.
  }
});

const sleep = at("sleep");
let bedtime = 0;
sleep.addEventListener("change", () => {
  clearTimeout(bedtime);
  const minutes = Number(sleep.value);
  if (minutes > 0) bedtime = setTimeout(goToSleep, minutes * 60000);
});

function goToSleep() {
  audio.pause();
  sleep.value = "";
  announce(word("saidSleep"));
}
