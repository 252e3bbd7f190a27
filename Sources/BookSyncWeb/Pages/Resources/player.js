// The player: a bar that stays while the pages change, and goes on where the user stopped.

import { announce, complain, found, keepsPositions, load, refreshSoon, root, word } from "./pages.js";
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
/** Where the user stopped, newer than what the page says: `seconds`, and the `revision` that the server gave it. */
const stopped = new Map();
/** What another device noted and this one did not know of, while the user is asked where to go on. */
let elsewhere = null;

// MARK: Beginning

const described = button => ({ ...button.dataset });
const bookOf = it => JSON.stringify([it.source, it.book]);
const keyOf = it => JSON.stringify([it.source, it.book, it.id]);

/** Plays what a button describes; from where the user stopped. */
function play(it) {
  save();
  now = it;
  pausedAt = 0;
  around = {};
  listChapters([]);
  offer(null);
  const isExact = "exact" in it;
  if (isExact) stopped.set(keyOf(it), { seconds: Number(it.at), revision: 0 });
  const start = resumed(known(it));
  audio.src = it.play;
  setSpeed(speeds.get(bookOf(it)) || Number(it.speed) || usual);
  if (start > 0) startAt(it, start);
  goOn(isExact);
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

/** Plays from there, wherever the user stopped. */
function playFrom(it, seconds) {
  if (!now || keyOf(it) !== keyOf(now)) return play({ ...it, at: seconds, exact: "" });
  moveTo(seconds);
  audio.play().catch(() => {});
}

function startAt(it, seconds) {
  if (now !== it) return;
  if (audio.readyState < HTMLMediaElement.HAVE_METADATA)
    return audio.addEventListener("loadedmetadata", () => startAt(it, seconds), { once: true });
  if (!(seconds > audio.duration - 5)) audio.currentTime = seconds;
}

/** What this device knows of where the user stopped. */
const known = it => stopped.get(keyOf(it)) ?? { seconds: Number(it.at) || 0, revision: Number(it.revision) || 0 };

/** Seconds that are heard again after so many milliseconds: the longer one was away, the more one has forgotten. */
const forgotten = away =>
  [[86400e3, 30], [3600e3, 20], [600e3, 10], [60e3, 5], [10e3, 2]].find(([least]) => away >= least)?.[1] ?? 0;

/** Where a position is taken up again; its revision is when it was noted, in milliseconds since 1970. */
const resumed = ({ seconds, revision }) =>
  revision > 0 ? Math.max(0, seconds - forgotten(Date.now() - revision)) : seconds;

/**
 * Plays, at once (a phone lets a page begin only while it is touched), and from where another device stopped since then as
 * soon as the server says so; unless a bookmark says exactly where.
 */
async function goOn(isExact = false) {
  const it = now;
  if (pausedAt) audio.currentTime = Math.max(0, audio.currentTime - forgotten(Date.now() - pausedAt));
  pausedAt = 0;
  audio.play().catch(() => {});
  try {
    const answer = await fetch(`${root}/api/v1/positions${it.page.slice(`${root}/books`.length)}`);
    if (!answer.ok) return;
    const position = await answer.json();
    if (isExact) return void stopped.set(keyOf(it), { ...known(it), revision: position.revision });
    if (now !== it || position.revision <= known(it).revision || isMine(it, position)) return;
    stopped.set(keyOf(it), { seconds: position.finished ? 0 : position.seconds, revision: position.revision });
    startAt(it, resumed(known(it)));
  } catch {
    // Without the server it goes on from where this device stopped.
  }
}

async function lookAround(it) {
  const other = async address => {
    if (!address) return null;
    const { page } = await load(address);
    const button = page.querySelector("article .play[data-play]");
    return button ? { it: described(button), page } : null;
  };
  try {
    const own = (await other(it.page))?.page;
    if (now === it) listChapters(own?.querySelectorAll(".chapters li") ?? []);
    const mine = own?.getElementById("around");
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
  for (const button of document.querySelectorAll("main .play:not([data-exact])")) {
    const isThis = now && keyOf(described(button)) === keyOf(now);
    const sign = isThis && isPlaying ? "pause" : "play";
    if (button.querySelector("use").getAttribute("href") !== icon(sign)) button.querySelector("use").setAttribute("href", icon(sign));
    button.toggleAttribute("aria-pressed", false);
    if (isThis) button.setAttribute("aria-pressed", String(isPlaying));
    button.closest(".row")?.classList.toggle("is-playing", Boolean(isThis));
  }
  markChapter();
}

/** Puts chapters, as the page of the episode lists them, into the bar. */
function listChapters(items) {
  at("chapters").hidden = !items.length;
  at("chapters").querySelector("ol").replaceChildren(...[...items].map(item => document.importNode(item, true)));
  markChapter();
}

/** Marks the chapter that is played, in the bar and on the page of its episode. */
function markChapter() {
  for (const list of document.querySelectorAll(".chapters ol")) {
    const chapters = [...list.querySelectorAll("button")];
    const it = bar.contains(list) ? now : described(document.querySelector("main article .play"));
    const isThis = now && keyOf(it) === keyOf(now);
    const current = isThis && chapters.findLast(chapter => Number(chapter.dataset.from) <= audio.currentTime + 0.05);
    for (const chapter of chapters) if (chapter !== current) chapter.removeAttribute("aria-current");
    if (current) current.setAttribute("aria-current", "true");
  }
}
document.addEventListener("shown", () => {
  mark();
  if (now && !saved && audio.paused) save(audio.ended);
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
    play: () => goOn(), pause: () => audio.pause(), stop: () => audio.pause(),
    seekbackward: it => skip(-(it.seekOffset ?? 15)), seekforward: it => skip(it.seekOffset ?? 15),
    seekto: it => moveTo(it.seekTime),
    previoustrack: around.previous ? commands.previous : null, nexttrack: around.next ? commands.next : null,
  };
  for (const [name, handler] of Object.entries(handlers)) {
    try {
      session.setActionHandler(name, handler);
    } catch {
      // This browser has no such key.
    }
  }
}

// MARK: Where the user stopped

let savedAt = 0;
/** What was saved last: what did not move is not saved again, and does not undo what another device said. */
let saved = "";
/** What this page sent lately: an answer may be lost, or come behind that of a later one. */
const sent = [];

const isMine = (it, position) => sent.includes(`${keyOf(it)} ${position.seconds}`);

async function save(isFinished = false) {
  if (!now || elsewhere || !(audio.currentTime > 0 || isFinished)) return;
  const it = now, seconds = audio.currentTime;
  const place = `${keyOf(it)} ${seconds}`;
  if (place === saved && !isFinished) return;
  saved = place;
  savedAt = Date.now();
  stopped.set(keyOf(it), { seconds: isFinished ? 0 : seconds, revision: known(it).revision });
  if (!keepsPositions) return;
  if (sent.push(place) > 20) sent.shift();
  const position = { source: it.source, book_id: it.book, id: it.id, seconds, finished: isFinished };
  if (Number.isFinite(audio.duration)) position.duration = audio.duration;
  await note(it, position);
}

/** Has the server note a position, unless another device noted one that this one does not know of. */
async function note(it, position) {
  try {
    // The page may be going away: the browser sends it all the same.
    const answer = await fetch(`${root}/api/v1/position`, {
      method: "POST", keepalive: true, headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ position: { ...position, revision: known(it).revision } }),
    });
    if (answer.status >= 500) throw new TypeError("no answer of ours");
    if (!answer.ok) return;
    const { count, position: standing } = await answer.json();
    // What this device sent before may be answered behind this; and whoever is further on here has heard the rest.
    const goesOn = count > 0 || isMine(it, standing) || position.finished || position.seconds >= standing.seconds;
    if (!goesOn) {
      if (now === it) offer({ it, standing });
      return;
    }
    if (standing.revision > known(it).revision) stopped.set(keyOf(it), { ...known(it), revision: standing.revision });
    if (count === 0) await note(it, position);
  } catch {
    // Without the server it is saved again in a few seconds, or when the server shows a page.
    saved = "";
  }
}

/** Asks where to go on; nothing is saved meanwhile. */
function offer(found) {
  elsewhere = found;
  const bar = at("elsewhere");
  bar.hidden = !found;
  if (found) bar.querySelector("span").textContent = word("saidElsewhere", {
    time: clock(found.standing.seconds), device: found.standing.device ?? word("otherDevice"),
  });
}

function settle(isThere) {
  const { it, standing } = elsewhere;
  offer(null);
  stopped.set(keyOf(it), { seconds: isThere ? standing.seconds : audio.currentTime, revision: standing.revision });
  if (isThere) return startAt(it, standing.seconds);
  saved = "";
  save();
}

audio.addEventListener("timeupdate", () => {
  showTime();
  markChapter();
  if (elsewhere && audio.currentTime > elsewhere.standing.seconds) settle(false);
  if (audio.currentTime > brokenOff.at + 1) brokenOff.since = 0;
  if (!audio.paused && Date.now() - savedAt > 10000) save();
});
let pausedAt = 0;
audio.addEventListener("pause", () => {
  mark();
  pausedAt = Date.now();
  if (!audio.error) isWanted = false;
  if (!audio.ended) save();
});
audio.addEventListener("play", () => {
  isWanted = true;
  mark();
});
audio.addEventListener("loadedmetadata", showTime);

/** Whether the user wants to hear something, though an error may keep it silent. */
let isWanted = false;
/** Where an error came first, and since when it comes again and again (milliseconds since 1970; 0 for none). */
const brokenOff = { at: 0, since: 0 };

/** Goes on where the server left off, once it answers. After minutes of silence, nobody is startled by a voice. */
audio.addEventListener("error", async () => {
  const it = now;
  if (!it) return;
  const since = brokenOff.since || Date.now();
  Object.assign(brokenOff, { at: audio.currentTime, since: 0 });
  let wasLost = audio.error?.code === MediaError.MEDIA_ERR_NETWORK;
  while (Date.now() - since < 300000) {
    if (wasLost) await new Promise(done => setTimeout(done, 2000));
    const isThere = await fetch(it.play, { method: "HEAD" }).then(answer => answer.status < 500, () => false);
    if (now !== it || !audio.error || !isWanted) return;
    if (isThere && !wasLost) {
      const said = word("saidSkipped", { name: it.title });
      announce(said);
      return complain(said);
    }
    if (isThere) {
      found();
      brokenOff.since = since;
      return play(it);
    }
    wasLost = true;
    complain(word("lostServer"));
  }
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
  moveTo(Math.max(0, Math.min(audio.currentTime + seconds, (audio.duration || Infinity) - 0.1)));
}

/** Whoever says where to go on has forgotten nothing. */
function moveTo(seconds) {
  pausedAt = 0;
  audio.currentTime = seconds;
}

const commands = {
  toggle: () => (audio.error ? play(now) : audio.paused ? goOn() : audio.pause()),
  back: () => skip(-15), forward: () => skip(15), leap: () => skip(30),
  // As players do: first to the beginning, then to the one before.
  previous: () => (audio.currentTime > 5 ? moveTo(0) : around.previous && play(around.previous)),
  next: () => around.next && play(around.next),
  there: () => settle(true), here: () => settle(false),
};

bar.addEventListener("click", event => commands[event.target.closest("[data-do]")?.dataset.do]?.());

document.addEventListener("click", event => {
  const button = event.target.closest?.("main .play");
  if (!button) return;
  const it = described(button);
  if ("exact" in it) playFrom(it, Number(it.at));
  else if (now && keyOf(it) === keyOf(now)) commands.toggle();
  else play(it);
});

document.addEventListener("click", event => {
  const chapter = event.target.closest?.(".chapters button");
  if (!chapter) return;
  const it = bar.contains(chapter) ? now : described(document.querySelector("main article .play"));
  playFrom(it, Number(chapter.dataset.from));
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
  commands[key]();
});

let isSeeking = false;
seek.addEventListener("input", () => {
  isSeeking = true;
  at("at").textContent = clock(seek.value);
});
seek.addEventListener("change", () => {
  isSeeking = false;
  moveTo(Number(seek.value));
});

// MARK: Bookmarks

const bookmark = at("bookmark");
bookmark.hidden = !keepsPositions;
bookmark.querySelector("form").addEventListener("submit", async event => {
  event.preventDefault();
  if (!now) return;
  const note = bookmark.querySelector("input");
  const position = { source: now.source, book_id: now.book, id: now.id, seconds: audio.currentTime };
  if (!(await act("bookmark", { position, note: note.value.trim() }))) return complain(word("actionFailed"));
  announce(word("saidBookmarked", { time: clock(position.seconds) }));
  note.value = "";
  bookmark.open = false;
  refreshSoon(0);
});

/** Has something done for the user alone; whether it was. */
async function act(action, it) {
  try {
    const answer = await fetch(`${root}/api/v1/${action}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(it),
    });
    return answer.ok;
  } catch {
    return false;
  }
}

// MARK: Speed and sleep

const choice = at("speed");
/** Of books, as this page knows it newer than their buttons. */
const speeds = new Map();
const remembered = (() => {
  try {
    return localStorage.getItem("booksync.speed");
  } catch {
    return null;
  }
})();
/** Of a book that was never listened to at another one. */
const usual = [...choice.options].some(option => option.value === remembered) ? Number(remembered) : 1;
setSpeed(usual);

function setSpeed(speed) {
  audio.playbackRate = audio.defaultPlaybackRate = speed;
  choice.value = String(speed);
}

choice.addEventListener("change", () => {
  const speed = Number(choice.value);
  setSpeed(speed);
  try {
    localStorage.setItem("booksync.speed", choice.value);
  } catch {
    // It holds for this page.
  }
  if (!now) return;
  speeds.set(bookOf(now), speed);
  if (keepsPositions) act("speed", { episodes: [{ source: now.source, book_id: now.book, id: now.id }], speed });
});

const sleep = at("sleep");
let sleepTimer = 0;
sleep.addEventListener("change", () => {
  clearTimeout(sleepTimer);
  const minutes = Number(sleep.value);
  if (minutes > 0) sleepTimer = setTimeout(goToSleep, minutes * 60000);
});

function goToSleep() {
  audio.pause();
  isWanted = false;
  sleep.value = "";
  announce(word("saidSleep"));
}
