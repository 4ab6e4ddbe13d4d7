// Refreshes the page when its subject changes.
const address = document.body.dataset.events;
const refreshDelayMs = 400;
const retryMs = 5000;
const reconnectMs = 30_000;
/** People have this time to read the notice of an action. */
const noticeMs = 8000;
/** Headers of requests are short. */
const maxNamedParts = 500;

let isStale = false;
let isBusy = false;
let hasConnected = false;
let events;

/** For screen readers, which announce only a live region that stays in the page. */
const announcement = document.createElement("p");
announcement.className = "hidden";
announcement.ariaLive = "polite";

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** One refresh at a time. */
async function refreshSoon() {
  isStale = true;
  if (isBusy) return;
  isBusy = true;
  while (isStale) {
    await sleep(refreshDelayMs);
    isStale = false;
    if (document.hidden || (await refresh().catch(() => false))) continue; // hidden pages refresh when shown
    isStale = true; // the server is away, or a form is being filled in
    await sleep(retryMs);
  }
  isBusy = false;
}

async function refresh() {
  const log = document.querySelector("[data-follows]");
  const parts = new Map(
    [...document.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]),
  );
  const named = [...parts.keys()].slice(0, maxNamedParts).join(" ");
  const response = await fetch(log?.dataset.next ?? location.href, { headers: { "signalbox-parts": named } });
  if (response.status === 429 || response.status >= 500) return false;
  if (response.redirected || !response.ok) return location.reload();
  const next = new DOMParser().parseFromString(await response.text(), "text/html");
  for (const same of next.querySelectorAll("[data-same]"))
    same.replaceWith(...same.dataset.same.split(" ").map((name) => parts.get(name).cloneNode(true)));
  keepFormToken(next);
  dispatchEvent(new CustomEvent("parsed", { detail: next }));
  if (log) takeLines(log, next);
  return update(next);
}

/** Each page masks the token of its forms anew. All are valid, and blocks that differ by nothing else stay. */
function keepFormToken(next) {
  const fields = (page) => page.querySelectorAll("input[name=csrf_token]");
  const token = fields(document)[0]?.getAttribute("value");
  if (token) for (const field of fields(next)) field.setAttribute("value", token);
}

/** The next page has only the lines that are new. */
function takeLines(log, next) {
  const added = next.getElementById(log.id);
  if (added) log.dispatchEvent(new CustomEvent("refreshed", { detail: added }));
}

/**
 * Replaces only the blocks that differ, so that focus, scrolling and input stay.
 * @returns false if an outdated block stayed because it is being filled in
 */
function update(next) {
  const main = document.querySelector("main");
  for (const { id, open } of main.querySelectorAll("details[id]"))
    next.getElementById(id)?.toggleAttribute("open", open);
  for (const field of main.querySelectorAll("input[type=checkbox][id]"))
    if (isSwitch(field)) next.getElementById(field.id)?.toggleAttribute("checked", field.checked);
  const focused = document.activeElement.closest("main *");
  const heading = main.querySelector("h1").textContent;
  const isWhole = replaceBlocks(main, next.querySelector("main"));
  if (focused && !focused.isConnected) moveFocus(main, focused);
  const newHeading = main.querySelector("h1").textContent;
  if (newHeading !== heading) announcement.textContent = newHeading;
  document.title = next.title;
  document.querySelector("link[rel=icon]").href = next.querySelector("link[rel=icon]").href;
  return isWhole;
}

/** Elements with `data-blocks` have blocks, too. @returns false if an outdated block stayed */
function replaceBlocks(container, next) {
  const outdated = [...container.children];
  const take = (at) => outdated.splice(at, 1)[0];
  let isWhole = true;
  const blocks = [...next.children].map((block) => {
    const same = outdated.findIndex((old) => isSameLog(old, block) || old.isEqualNode(block));
    if (same >= 0) return take(same);
    const { blocks: name } = block.dataset;
    const inner = name === undefined ? -1 : outdated.findIndex((old) => old.dataset.blocks === name);
    if (inner < 0) return block;
    const old = take(inner);
    for (const { name, value } of block.attributes) old.setAttribute(name, value);
    if (!replaceBlocks(old, block)) isWhole = false;
    return old;
  });
  const kept = outdated.filter(isBeingFilledIn);
  for (const block of kept) keep(block, blocks);
  for (const block of outdated) if (!kept.includes(block)) block.remove();
  blocks.forEach((block, i) => {
    if (container.children[i] !== block) container.insertBefore(block, container.children[i] ?? null);
  });
  return isWhole && kept.length === 0;
}

/** A log takes its new lines by itself. It may have more lines than the next page, or others. */
function isSameLog(old, block) {
  const { attempt } = old.dataset;
  return attempt !== undefined && old.id === block.id && attempt === block.dataset.attempt;
}

function isBeingFilledIn(block) {
  const fields = [...block.querySelectorAll("input:not([type=hidden]), textarea, select")];
  return fields.some((field) => !isSwitch(field) && (field === document.activeElement || isChanged(field)));
}

/** A checkbox that only changes what is shown. */
function isSwitch(field) {
  return field.type === "checkbox" && !field.form;
}

function isChanged(field) {
  if (field.options) return field.selectedIndex !== Math.max(0, indexOfDefault(field));
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  return field.value !== field.defaultValue;
}

function indexOfDefault(select) {
  return [...select.options].findIndex((option) => option.defaultSelected);
}

/** Replaces the new block with the same form, or else keeps its place. */
function keep(block, blocks) {
  const action = block.querySelector("form")?.getAttribute("action");
  const form = action && `form[action="${CSS.escape(action)}"]`;
  const same = form ? blocks.findIndex((each) => each.querySelector(form)) : -1;
  if (same >= 0) return blocks.splice(same, 1, block);
  let before = block.previousElementSibling;
  while (before && !blocks.includes(before)) before = before.previousElementSibling;
  blocks.splice(blocks.indexOf(before) + 1, 0, block);
}

/** Focuses the same switch, summary, link or button, or else the heading. */
function moveFocus(main, removed) {
  const address = removed.getAttribute("href");
  const action = removed.form?.getAttribute("action");
  const place = removed.getAttribute("formaction");
  const fold = removed.matches("summary") && removed.parentElement.id;
  const again =
    (isSwitch(removed) && main.querySelector(`#${CSS.escape(removed.id)}`)) ||
    (fold && main.querySelector(`#${CSS.escape(fold)} > summary`)) ||
    (place && main.querySelector(`[formaction="${CSS.escape(place)}"]`)) ||
    (address && main.querySelector(`a[href="${CSS.escape(address)}"]`)) ||
    (action && main.querySelector(`form[action="${CSS.escape(action)}"] button`));
  const heading = main.querySelector("h1");
  if (!again) heading.tabIndex = -1;
  (again || heading).focus();
}

/** Refreshes the page. The notice of an action is outdated once the page shows something newer. */
function takeChange() {
  refreshSoon();
  setTimeout(dropNotice, noticeMs - performance.now());
}

function dropNotice() {
  const page = new URL(location.href);
  if (!page.searchParams.has("notice")) return;
  page.searchParams.delete("notice");
  history.replaceState(history.state, "", page);
  refreshSoon();
}

/** Catches up with the changes that were made without a connection. Before the first one, the page was just loaded. */
function catchUp() {
  if (hasConnected) takeChange();
  else refreshSoon();
  hasConnected = true;
}

/** Only while visible: over HTTP/1.1 a browser has six connections per server. */
function listen() {
  events?.close();
  if (document.hidden) return;
  const source = new EventSource(address);
  events = source;
  source.addEventListener("changed", takeChange);
  source.addEventListener("open", catchUp);
  source.addEventListener("error", () => {
    // The browser reconnects, except after an answer that is not a stream.
    if (source === events && source.readyState === EventSource.CLOSED) setTimeout(listen, reconnectMs);
  });
}

if (address) {
  addEventListener("stale", refreshSoon);
  document.body.append(announcement);
  listen();
  document.addEventListener("visibilitychange", listen);
}
