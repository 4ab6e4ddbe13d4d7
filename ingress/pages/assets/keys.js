// The field in the head finds as one types. Ctrl-K leads to it, and letters go through lists and sections. All of it is
// there without this script: the field leads to a page, and so do the links of the head.
const field = document.querySelector(".everything input");
const form = field.form;
const waitMs = 150;
const minCharacters = 2;
/** Of each kind. The page of the search has the others. */
const maxShown = 4;
/** The second of two letters comes within this time. */
const sequenceMs = 1500;

const list = document.createElement("div");
list.id = list.className = "found";
list.role = "listbox";
list.ariaLabel = "Found";
list.hidden = true;
form.append(list);
const status = document.createElement("p");
status.className = "hidden";
status.role = "status";
// It has to be there before its text, but other pages have a status of their own.
field.addEventListener("focus", () => form.append(status), { once: true });
field.role = "combobox";
field.autocomplete = "off";
field.ariaAutoComplete = "list";
field.setAttribute("aria-controls", list.id);

let request;
let timer;

function findSoon() {
  clearTimeout(timer);
  request?.abort();
  if (field.value.trim().length < minCharacters) return close();
  timer = setTimeout(find, waitMs);
}

async function find() {
  request = new AbortController();
  const address = new URL(form.action);
  address.searchParams.set("q", field.value);
  try {
    const response = await fetch(address, { signal: request.signal });
    // Enter leads to the page, which says more.
    if (!response.ok || response.redirected) return close();
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    if (document.activeElement === field) show(page);
  } catch {
    // Another letter came, or the server is away.
  }
}

function show(page) {
  const groups = [...page.querySelectorAll("main section")].map(groupOf);
  list.replaceChildren(...groups);
  const count = options().length;
  if (count === 0) list.textContent = "Nothing found";
  status.textContent = count === 0 ? "Nothing found" : `${count} found`;
  options().forEach((option, index) => {
    option.id = `found-${index}`;
  });
  list.hidden = false;
  field.ariaExpanded = "true";
  choose(undefined);
}

function groupOf(section) {
  const group = document.createElement("div");
  group.role = "group";
  const title = document.createElement("p");
  title.textContent = group.ariaLabel = section.querySelector("h2").textContent;
  title.ariaHidden = "true";
  const rows = [...section.querySelectorAll("li")].slice(0, maxShown);
  group.append(title, ...rows.map(optionOf));
  return group;
}

function optionOf(row) {
  const link = row.querySelector("a");
  const option = document.createElement("a");
  option.role = "option";
  option.tabIndex = -1;
  option.href = link.getAttribute("href");
  const name = document.createElement("span");
  name.textContent = link.textContent;
  const rest = document.createElement("span");
  rest.className = "quiet";
  rest.textContent = (row.querySelector(".message") ?? row.querySelector(".quiet"))?.textContent ?? "";
  option.append(name, rest);
  return option;
}

const options = () => [...list.querySelectorAll("[role=option]")];
const chosen = () => list.querySelector("[aria-selected=true]");

function choose(option) {
  for (const each of options()) each.ariaSelected = String(each === option);
  if (!option) return field.removeAttribute("aria-activedescendant");
  field.setAttribute("aria-activedescendant", option.id);
  option.scrollIntoView({ block: "nearest" });
}

function close() {
  clearTimeout(timer);
  request?.abort();
  list.hidden = true;
  status.textContent = "";
  field.ariaExpanded = "false";
  choose(undefined);
}

/** From the field, up leads to the last one. */
function move(step) {
  const all = [undefined, ...options()];
  choose(all.at((all.indexOf(chosen() ?? undefined) + step) % all.length));
}

const keysOfField = {
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  Enter: () => chosen().click(),
  Escape: close,
};

function handleFieldKey(event) {
  if (event.isComposing || !Object.hasOwn(keysOfField, event.key) || list.hidden) return;
  if (event.key === "Enter" && !chosen()) return close();
  event.preventDefault();
  keysOfField[event.key]();
}

field.addEventListener("input", findSoon);
field.addEventListener("focus", findSoon);
field.addEventListener("keydown", handleFieldKey);
field.addEventListener("blur", ({ relatedTarget }) => !list.contains(relatedTarget) && close());
// A click on a row keeps the focus in the field until the page is left.
list.addEventListener("mousedown", (event) => event.preventDefault());
close();

/** On a phone there is a link instead. */
function goToSearch() {
  if (!field.checkVisibility()) return document.querySelector(".everything > a").click();
  field.focus();
  field.select();
}

const rowsOfLists = "main :is(.builds > li, .entries > li, .jobs > li, tbody > tr)";

/** Focuses the first link of the row before or after that with the focus. */
function goToRow(step) {
  const links = [...document.querySelectorAll(rowsOfLists)].flatMap(
    (row) => row.querySelector("a[href]") ?? [],
  );
  const shown = links.filter((link) => link.checkVisibility());
  const row = document.activeElement.closest(rowsOfLists);
  const present = shown.findIndex((link) => row?.contains(link));
  const next = present < 0 && step < 0 ? undefined : shown[present + step];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

/** The page that lists the keys, as a dialog. */
async function showKeys() {
  const address = document.body.dataset.keys;
  const response = await fetch(address).catch(() => undefined);
  const text = response?.ok ? await response.text() : "";
  const keys = new DOMParser().parseFromString(text, "text/html").getElementById("keys");
  if (!keys) return location.assign(address);
  const dialog = document.createElement("dialog");
  dialog.className = "keys";
  dialog.ariaLabel = "Keyboard shortcuts";
  const close = document.createElement("button");
  close.textContent = "Close";
  close.addEventListener("click", () => dialog.close());
  const change = document.createElement("a");
  change.href = address;
  change.textContent = "Turn single letters off";
  const actions = document.createElement("p");
  actions.className = "actions";
  actions.append(close, change);
  dialog.append(keys, actions);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

let goesSince = Number.NEGATIVE_INFINITY;

const keys = {
  "/": goToSearch,
  j: () => goToRow(1),
  k: () => goToRow(-1),
  "?": showKeys,
  g: () => {
    goesSince = performance.now();
  },
};

function handleKey(event) {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
  if (target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select")) return;
  if (key === "k" && (ctrlKey || metaKey) && !altKey) {
    event.preventDefault();
    return goToSearch();
  }
  // The user may have turned letters off.
  if (ctrlKey || metaKey || altKey || document.body.dataset.keys === undefined) return;
  const isSecond = performance.now() - goesSince < sequenceMs;
  goesSince = Number.NEGATIVE_INFINITY;
  const link = isSecond && document.querySelector(`.head a[data-key="${CSS.escape(key)}"]`);
  if (!link && !Object.hasOwn(keys, key)) return;
  event.preventDefault();
  if (link) link.click();
  else keys[key]();
}

addEventListener("keydown", handleKey);
