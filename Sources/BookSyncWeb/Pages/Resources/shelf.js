// What the script adds to pages that work without it: buttons that act at once, search while one types, and the rest
// from its parts.

import { announce, complain, go, parse, refresh, refreshSoon, root, step, word } from "./pages.js";
import "./live.js";
import "./player.js";

// MARK: Buttons

/** Fields of forms, as the interface has them. */
const fields = {
  all: value => value === "true", force: value => value === "true", played: value => value === "true", up_to: value => value === "true",
  latest: Number, outline: String,
};

/** What a form's button asks for, in the words of the interface. */
function asked(button) {
  const request = named(button);
  for (const [name, read] of request ? Object.entries(fields) : []) {
    const field = button.form.elements[name];
    // Other buttons of the form are no fields of this one.
    if (field?.value && field.type !== "submit") request.body[name] = read(field.value);
  }
  return request;
}

function named(button) {
  const action = new URL(button.formAction).pathname.slice(`${root}/actions/`.length);
  const row = button.closest("[data-row][data-id]");
  if (button.name === "episode" && row) {
    return { action, body: { episodes: [{ source: row.dataset.source, book_id: row.dataset.book, id: row.dataset.id }] } };
  }
  if (button.name === "ref") return { action, body: { refs: [button.value] } };
  if (button.name === "number") return { action, body: { number: Number(button.value) } };
  if (button.name === "now" || action === "import") return { action, body: {} };
  return button.name === "all" && action !== "rotate-apps" ? { action, body: { all: true } } : null;
}

document.addEventListener("submit", async event => {
  const button = event.submitter;
  if (!(event.target.id === "act" || "act" in event.target.dataset) || !button || button.dataset.plain) return;
  const request = asked(button);
  if (!request) return;
  event.preventDefault();
  if (button.matches("[aria-busy=true], [aria-disabled=true]")) return;
  button.setAttribute("aria-busy", "true");
  const question = button.closest("details");
  question?.querySelector("summary").focus({ preventScroll: true });
  question?.removeAttribute("open");
  try {
    const answer = await fetch(`${root}/api/v1/${request.action}`, {
      method: "POST", headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify(request.body),
    });
    const isOurs = (answer.headers.get("Content-Type") ?? "").includes("json");
    if (!isOurs) throw answer.status >= 500 ? new TypeError("no answer of ours") : new Error("refused on the way");
    if (answer.ok) complain("");
    else {
      const failure = await answer.json();
      complain(word("actionFailed", { kind: word(failure.kind) || word("failedPage"), why: failure.error }));
    }
    if (answer.ok && button.dataset.then) return void (await go(button.dataset.then));
    const results = button.closest("#results");
    if (answer.ok && results) {
      // It stays where the focus is.
      button.setAttribute("aria-disabled", "true");
      button.ariaLabel = `${button.ariaLabel}: ${results.dataset.added}`;
      button.textContent = results.dataset.added;
      announce(button.ariaLabel);
    }
    await refresh();
    refreshSoon();
  } catch (error) {
    // Where the server does not answer, a form would only leave the page.
    if (error instanceof TypeError) return complain(word("lostServer"));
    // It may come through where this did not.
    button.dataset.plain = "yes";
    event.target.requestSubmit(button);
  } finally {
    button.removeAttribute("aria-busy");
  }
});

// A file that is chosen is the text of the field that it is for.
document.addEventListener("change", async event => {
  const into = event.target.dataset?.into;
  if (into && event.target.files?.[0]) document.getElementById(into).value = await event.target.files[0].text();
});

// One question is open at a time, and Escape closes it.
document.addEventListener("toggle", event => {
  if (!event.target.matches?.("details.ask") || !event.target.open) return;
  for (const other of document.querySelectorAll("details.ask[open]")) if (other !== event.target) other.open = false;
}, true);
document.addEventListener("click", event => {
  for (const open of document.querySelectorAll("details.ask[open]")) if (!open.contains(event.target)) open.open = false;
});
document.addEventListener("keydown", event => {
  const open = document.querySelector("details.ask[open]");
  if (event.key !== "Escape" || !open) return;
  open.open = false;
  open.querySelector("summary").focus();
});

document.addEventListener("submit", event => {
  const form = event.target;
  if (!form.closest("main") || event.defaultPrevented) return;
  const fields = new URLSearchParams(new FormData(form, event.submitter));
  if ("stream" in form.dataset) discover(form, fields);
  // What is asked of others stands in no address.
  else if (form.dataset.page) go(form.dataset.page, { form: { action: form.action, fields } });
  else if (form.method === "get") {
    const address = new URL(form.action);
    address.search = fields;
    go(address.href);
  }
  else return;
  event.preventDefault();
});

// MARK: Discover

let discovering = null;

/** Shows what catalogs find, as soon as each of them answers. */
async function discover(form, fields) {
  const address = new URL(form.dataset.page, location.href);
  for (const name of ["q", "language", "source"]) address.searchParams.set(name, fields.get(name));
  const { href, pathname, search } = address;
  if (discovering?.href === href) return;
  discovering?.control.abort();
  const mine = (discovering = { href, control: new AbortController() });
  if (location.href !== href) step(href);
  document.querySelector("#act [name=return]").value = pathname + search;
  document.querySelector("#results ol").replaceChildren();
  try {
    const headers = { Accept: "application/x-ndjson" };
    const answer = await fetch(form.action, { method: "POST", headers, body: fields, signal: mine.control.signal });
    if (!(answer.headers.get("Content-Type") ?? "").includes("ndjson")) return void (await go(href, { keepsFocus: true }));
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const lines = (rest + piece.value).split("\n");
      rest = lines.pop();
      for (const line of lines) showFound(parse(JSON.parse(line)).getElementById("results"));
    }
  } catch {
    if (!mine.control.signal.aborted) complain(word("lostServer"));
  } finally {
    if (discovering === mine) discovering = null;
  }
}

/** What is shown stays in its place while more comes; at last the best are first, unless somebody is reading. */
function showFound(part) {
  const results = document.getElementById("results");
  if (!results) return discovering?.control.abort();
  const [list, other] = [results.querySelector("ol"), part.querySelector("ol")];
  for (const name of [".sum", ".unanswered"]) results.querySelector(name).innerHTML = part.querySelector(name).innerHTML;
  const shown = new Map();
  for (const row of list.children) for (const id of row.dataset.ids.split(" ")) shown.set(id, row);
  const rows = [...other.children].map(row => {
    const mine = row.dataset.ids.split(" ").map(id => shown.get(id)).find(Boolean);
    if (mine?.outerHTML === row.outerHTML || mine?.querySelector("[aria-disabled], [aria-busy], :focus")) return mine;
    document.adoptNode(row);
    if (mine?.isConnected) mine.replaceWith(row);
    else list.append(row);
    return row;
  });
  if ("underWay" in part.dataset) return;
  for (const row of [...list.children]) if (!rows.includes(row) && !row.matches(":focus-within")) row.remove();
  if (!scrollY && !list.matches(":focus-within")) list.append(...rows);
}

document.addEventListener("shown", () => discovering?.control.abort());

// MARK: Search

const field = document.getElementById("q");
let waiting = 0;

const find = () => {
  const text = field.value.trim();
  const isThere = location.pathname === `${root}/search`;
  if (!text && !isThere) return;
  const address = `${root}/search?q=${encodeURIComponent(text)}`;
  if (isThere) go(address, { keepsFocus: true });
  else {
    step(address);
    go(address, { keepsFocus: true });
  }
};
field.addEventListener("input", event => {
  clearTimeout(waiting);
  if (!event.isComposing) waiting = setTimeout(find, 200);
});
// Words of Chinese are composed of letters first.
field.addEventListener("compositionend", () => {
  clearTimeout(waiting);
  waiting = setTimeout(find, 200);
});
field.form.addEventListener("submit", event => {
  event.preventDefault();
  clearTimeout(waiting);
  find();
});
