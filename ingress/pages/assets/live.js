// A page that watches something brings itself up to date when that changes. Without this script a reload does.
const address = document.body.dataset.events;
const pauseMs = 400;
const patienceMs = 5000;
const closedMs = 30_000;

let isStale = false;
let isBusy = false;
let events;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** One look at a time, until what is shown is what there is. */
async function refreshSoon() {
  isStale = true;
  if (isBusy) return;
  isBusy = true;
  while (isStale) {
    await sleep(pauseMs);
    isStale = false;
    if (document.hidden || (await refresh().catch(() => false))) continue; // in sight again, it looks again
    isStale = true; // the server is away, or somebody types
    await sleep(patienceMs);
  }
  isBusy = false;
}

async function refresh() {
  const response = await fetch(location.href);
  if (response.status === 429 || response.status >= 500) return false;
  if (response.redirected || !response.ok) return location.reload();
  return show(new DOMParser().parseFromString(await response.text(), "text/html"));
}

/** Replaces what differs, and nothing else: focus, scrolling and what is typed stay. False: somebody types there. */
function show(next) {
  const main = document.querySelector("main");
  for (const open of main.querySelectorAll("details[open][id]"))
    next.getElementById(open.id)?.setAttribute("open", "");
  const gone = [...main.children];
  const shown = [...next.querySelector("main").children].map((block) => {
    const same = gone.findIndex((old) => old.isEqualNode(block));
    return same < 0 ? block : gone.splice(same, 1)[0];
  });
  if (gone.some(isBeingFilledIn)) return false;

  const focused = document.activeElement.closest("main a[href]")?.getAttribute("href");
  for (const block of gone) block.remove();
  shown.forEach((block, i) => {
    if (main.children[i] !== block) main.insertBefore(block, main.children[i] ?? null);
  });
  if (focused && !main.contains(document.activeElement))
    main.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  document.title = next.title;
  return true;
}

function isBeingFilledIn(block) {
  const inputs = [...block.querySelectorAll("input:not([type=hidden]), textarea")];
  return inputs.some((input) => input === document.activeElement || input.value !== input.defaultValue);
}

/** Only while the page is in sight: over HTTP/1.1 a browser has six connections for all the pages of a server. */
function listen() {
  events?.close();
  if (document.hidden) return;
  const present = new EventSource(address);
  events = present;
  present.addEventListener("changed", refreshSoon);
  present.addEventListener("open", refreshSoon); // what changed while nobody told us, since the page was made too
  present.addEventListener("error", () => {
    // The browser tries again by itself, but not after an answer that was no stream.
    if (present === events && present.readyState === EventSource.CLOSED) setTimeout(listen, closedMs);
  });
}

if (address) {
  listen();
  document.addEventListener("visibilitychange", listen);
}
