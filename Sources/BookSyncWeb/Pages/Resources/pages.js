// Going about without losing the page: its main part is fetched and put in the place of the old one.

export const root = document.body.dataset.root;
export const keepsPositions = "keepsPositions" in document.body.dataset;

const words = new Map([...document.querySelectorAll("#words [data-word]")].map(e => [e.dataset.word, e.textContent]));

/** A phrase in the language of the page, with `{names}` filled in. */
export const word = (name, values = {}) =>
  (words.get(name) ?? "").replace(/\{(\w+)\}/g, (all, key) => values[key] ?? "");

// MARK: What is said to those who do not see

const news = document.getElementById("news");
let pending = [];
let speaking = 0;

/** Has a change read out: at most one sentence in three seconds; what comes meanwhile is summed up. */
export function announce(text, name = text) {
  pending.push({ text, name });
  if (speaking) return;
  const speak = () => {
    speaking = 0;
    if (!pending.length) return;
    const last = pending[pending.length - 1];
    news.textContent = pending.length === 1 ? last.text : word("saidMany", { n: pending.length, name: last.name });
    pending = [];
    speaking = setTimeout(speak, 3000);
  };
  speaking = setTimeout(speak, 50);
}

const trouble = document.getElementById("trouble");

/** Shows what went wrong above the page; nothing takes it away again. */
export function complain(text) {
  trouble.hidden = !text;
  if (trouble.textContent !== text) trouble.textContent = text;
}

/** The server answers again. */
export const found = () => trouble.textContent === word("lostServer") && complain("");

// MARK: Pages

const parser = new DOMParser();
/** A page without what is there for browsers that run no script: parsed here, that would differ from what the browser made. */
export function parse(text) {
  const page = parser.parseFromString(text, "text/html");
  withoutNoscript(page);
  return page;
}
const withoutNoscript = page => page.querySelectorAll("noscript").forEach(e => e.remove());
withoutNoscript(document);

let newest = 0;

/**
 * A page of ours. What a proxy answers while the server is away fails as if nobody had answered.
 * @param form `action` and `fields`, where the page at the address is made with what a form asks for.
 */
export async function load(address, form) {
  const headers = { Accept: "text/html" };
  const answer = form
    ? await fetch(form.action, { method: "POST", headers, body: form.fields })
    : await fetch(address, { headers });
  const isPage = (answer.headers.get("Content-Type") ?? "").startsWith("text/html");
  const page = isPage && parse(await answer.text());
  if (isPage ? page.body.dataset.root !== root : !answer.ok) throw new TypeError("no answer of ours");
  if (!isPage) throw new Error("no page");
  return { page, address: form ? address : answer.url };
}

/** The address of what is shown. */
let here = location.pathname + location.search;

/** Everything of a page but what goes on through all of them. */
function show({ page }) {
  const main = page.getElementById("main");
  if (!main || !page.getElementById("player")) return false;
  document.title = page.title;
  document.getElementById("main").replaceWith(document.adoptNode(main));
  for (const id of ["nav", "act"]) {
    const [old, other] = [document.getElementById(id), page.getElementById(id)];
    if (old && other) old.replaceWith(document.adoptNode(other));
  }
  const field = document.getElementById("q");
  if (document.activeElement !== field) field.value = page.getElementById("q").value;
  document.dispatchEvent(new CustomEvent("shown"));
  return true;
}

/** Goes to a page of ours; the browser does it where this cannot. */
export async function go(address, { form = null, isBack = false, keepsFocus = false, top = 0 } = {}) {
  const mine = ++newest;
  const left = scrollY;
  try {
    const loaded = await load(address, form);
    if (mine !== newest) return;
    if (!show(loaded)) return void (location.href = address);
    found();
    if (!keepsFocus) {
      if (!isBack) {
        history.replaceState({ top: left }, "");
        history.pushState({ top: 0 }, "", loaded.address);
      }
      document.getElementById("main").focus({ preventScroll: true });
      const sought = isBack ? null : document.getElementById("sought");
      if (sought) sought.scrollIntoView({ block: "center" });
      else scrollTo(0, top);
      announce(document.title);
    } else {
      history.replaceState({ top: 0 }, "", loaded.address);
    }
    here = location.pathname + location.search;
  } catch (error) {
    if (mine !== newest) return;
    if (error instanceof TypeError) complain(word("lostServer"));
    else location.href = address;
  }
}

/** A new entry of the history, before its page is there. */
export function step(address) {
  history.replaceState({ top: scrollY }, "");
  history.pushState({ top: 0 }, "", address);
  here = location.pathname + location.search;
}

// MARK: The same page anew

let asked = 0;
let isLoading = false;

/** Brings what is shown up to date, soon; what nothing changed in stays as it is, and so does the focus. */
export function refreshSoon(wait = 700) {
  if (asked) return;
  asked = setTimeout(async () => {
    asked = 0;
    if (isLoading) return refreshSoon(wait);
    isLoading = true;
    await refresh().finally(() => (isLoading = false));
  }, wait);
}

export async function refresh() {
  // What others were asked for is not asked again.
  if (document.querySelector("main [data-asked]")) return;
  const [mine, address] = [newest, location.href];
  // Where no page was named, the one that is shown stays.
  const shown = document.querySelector(".pager [aria-current]")?.href ?? address;
  let page;
  try {
    ({ page } = await load(shown));
  } catch {
    return;
  }
  if (mine !== newest || address !== location.href) return;
  const old = document.getElementById("main");
  const main = page.getElementById("main");
  // A page without a player is the one to log in at.
  if (!main || !page.getElementById("player")) return void (location.href = address);
  const parts = e => [...e.querySelectorAll("[data-part]")].map(part => part.tagName + part.dataset.part).join();
  const isTyping = old.contains(document.activeElement) && document.activeElement.matches("input, select");
  if (parts(old) !== parts(main) || !old.querySelector("[data-part], [data-row]")) {
    if (!isTyping) keepingFocus(() => old.replaceChildren(...adopt(main.childNodes)));
  } else {
    keepingFocus(() => {
      const mine = [...old.querySelectorAll("[data-part]")];
      [...main.querySelectorAll("[data-part]")].forEach((part, i) => merge(mine[i], part));
      mergeArticle(old, main);
    });
  }
  document.dispatchEvent(new CustomEvent("shown"));
}

const adopt = nodes => [...nodes].map(node => document.adoptNode(node));

function merge(old, part) {
  if (!("rows" in part.dataset)) {
    if (old.outerHTML !== part.outerHTML && !old.querySelector("details[open]")) old.replaceWith(document.adoptNode(part));
    return;
  }
  const present = new Map([...old.children].map(row => [row.dataset.row, row]));
  let place = old.firstElementChild;
  for (const row of [...part.children]) {
    let mine = present.get(row.dataset.row);
    present.delete(row.dataset.row);
    if (!mine) {
      mine = document.adoptNode(row);
    } else if (mine.outerHTML !== row.outerHTML && !isMoving(mine, row) && !mine.querySelector("details[open]")) {
      const other = document.adoptNode(row);
      if (place === mine) place = other;
      mine.replaceWith(other);
      mine = other;
    }
    if (place === mine) place = place.nextElementSibling;
    else old.insertBefore(mine, place);
  }
  for (const row of present.values()) row.remove();
}

/** Whether a row has only gone on: its bar and its speed are newer than what the page says. */
function isMoving(mine, row) {
  const acts = e => [...e.querySelectorAll(".acts [formaction]")].map(button => button.getAttribute("formaction")).join();
  return [mine, row].every(e => e.classList.contains("is-downloading")) && acts(mine) === acts(row);
}

/** The page of one episode: its state stands outside of all parts. */
function mergeArticle(old, main) {
  const [mine, other] = [old.querySelector("article[data-row]"), main.querySelector("article[data-row]")];
  if (!mine || !other) return;
  const [before, after] = [mine.querySelector(".state"), other.querySelector(".state")];
  // The bar and the speed that are shown are newer than what the page says.
  if ([mine, other].every(e => e.classList.contains("is-downloading"))) return;
  mine.className = other.className;
  if (before.outerHTML !== after.outerHTML) before.replaceWith(document.adoptNode(after));
}

/** Whoever had the focus in a row has it there still, on the same button or on the one in its place. */
function keepingFocus(change) {
  const focused = document.activeElement;
  const row = focused?.closest("[data-row]")?.dataset.row;
  const key = focused?.getAttribute("formaction") ?? focused?.dataset.play ?? focused?.getAttribute("href");
  const part = focused?.closest("[data-part]")?.dataset.part;
  change();
  if (!focused || focused.isConnected || !(row || part)) return;
  const home = document.querySelector(row ? `[data-row="${CSS.escape(row)}"]` : `[data-part="${part}"]`);
  if (!home) return document.getElementById("main").focus({ preventScroll: true });
  const buttons = [...home.querySelectorAll("button, summary, a")];
  const same = key && buttons.find(e => [e.getAttribute("formaction"), e.dataset.play, e.getAttribute("href")].includes(key));
  (same ?? buttons.find(e => e.matches("button, summary")) ?? buttons[0])?.focus({ preventScroll: true });
}

// MARK: Links and the way back

const isOurs = link =>
  link.origin === location.origin && link.pathname.startsWith(root + "/") && !link.target && !link.download
  && !/^\/(feeds|apps|media|api|static|covers|catalog)\b/.test(link.pathname.slice(root.length));

document.addEventListener("click", event => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (!isOurs(link) || link.hash) return;
  event.preventDefault();
  go(link.href);
});

history.scrollRestoration = "manual";
// Loaded again, it is where it was.
scrollTo(0, history.state?.top ?? scrollY);
history.replaceState({ top: scrollY }, "");
addEventListener("pagehide", () => history.replaceState({ top: scrollY }, ""));
addEventListener("popstate", event => {
  // A step within the page, as to its content, loads nothing.
  if (location.pathname + location.search !== here) go(location.href, { isBack: true, top: event.state?.top ?? 0 });
});
