// What the script adds to pages that work without it: buttons that act at once, search while one types, and the rest
// from its parts.

import { complain, go, refresh, refreshSoon, root, step, word } from "./pages.js";
import "./live.js";
import "./player.js";

// MARK: Buttons

/** Fields of forms, as the interface has them. */
const fields = {
  force: value => value === "true", played: value => value === "true", up_to: value => value === "true",
  latest: Number, outline: String,
};

/** What a form's button asks for, in the words of the interface. */
function asked(button) {
  const request = named(button);
  for (const [name, read] of request ? Object.entries(fields) : []) {
    const value = button.form.elements[name]?.value;
    if (value) request.body[name] = read(value);
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
  if (button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  const question = button.closest("details");
  question?.querySelector("summary").focus({ preventScroll: true });
  question?.removeAttribute("open");
  try {
    const answer = await fetch(`${root}/api/v1/${request.action}`, {
      method: "POST", headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify(request.body),
    });
    if (!(answer.headers.get("Content-Type") ?? "").includes("json")) throw new TypeError("no answer of ours");
    if (answer.ok) complain("");
    else {
      const failure = await answer.json();
      complain(word("actionFailed", { kind: word(failure.kind) || word("failedPage"), why: failure.error }));
    }
    if (answer.ok && button.dataset.then) return void (await go(button.dataset.then));
    await refresh();
    refreshSoon();
  } catch {
    // The form may come through where this did not.
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
  // What is asked of others stands in no address.
  if (form.dataset.page) go(form.dataset.page, { form: { action: form.action, fields } });
  else if (form.method === "get") {
    const address = new URL(form.action);
    address.search = fields;
    go(address.href);
  }
  else return;
  event.preventDefault();
});

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
