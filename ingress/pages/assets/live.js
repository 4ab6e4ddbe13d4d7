// A page that watches something brings itself up to date when that changes. Without this script a reload does.
const address = document.body.dataset.events;
const pauseMs = 400;
const patienceMs = 5000;
const closedMs = 30_000;

let isStale = false;
let isBusy = false;
let events;

/** What has changed, for whoever hears the page. It stays where it is: only then is it read out. */
const spoken = document.createElement("p");
spoken.className = "hidden";
spoken.ariaLive = "polite";

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

/**
 * Replaces what differs, and nothing else: focus, scrolling and what is typed stay.
 * @returns false: a block that differs is still as it was, because somebody types there
 */
function show(next) {
  const main = document.querySelector("main");
  for (const open of main.querySelectorAll("details[open][id]"))
    next.getElementById(open.id)?.setAttribute("open", "");
  const gone = [...main.children];
  const shown = [...next.querySelector("main").children].map((block) => {
    const same = gone.findIndex((old) => old.isEqualNode(block));
    return same < 0 ? block : gone.splice(same, 1)[0];
  });
  const kept = gone.filter(isBeingFilledIn);
  for (const block of kept) keep(block, shown);

  const focused = document.activeElement.closest("main *");
  const heading = main.querySelector("h1").textContent;
  for (const block of gone) if (!kept.includes(block)) block.remove();
  shown.forEach((block, i) => {
    if (main.children[i] !== block) main.insertBefore(block, main.children[i] ?? null);
  });
  if (focused && !focused.isConnected) focusInstead(main, focused);
  const present = main.querySelector("h1").textContent;
  if (present !== heading) spoken.textContent = present;
  document.title = next.title;
  return kept.length === 0;
}

function isBeingFilledIn(block) {
  const inputs = [...block.querySelectorAll("input:not([type=hidden]), textarea")];
  return inputs.some((input) => input === document.activeElement || input.value !== input.defaultValue);
}

/** Where the same form is new; with no such form any more, after the block that it follows now. */
function keep(block, shown) {
  const action = block.querySelector("form")?.getAttribute("action");
  const form = action && `form[action="${CSS.escape(action)}"]`;
  const same = form ? shown.findIndex((each) => each.querySelector(form)) : -1;
  if (same >= 0) return shown.splice(same, 1, block);
  let before = block.previousElementSibling;
  while (before && !shown.includes(before)) before = before.previousElementSibling;
  shown.splice(shown.indexOf(before) + 1, 0, block);
}

/** The same link or button where it is there again, and else the heading: never the start of the page. */
function focusInstead(main, gone) {
  const address = gone.getAttribute("href");
  const action = gone.form?.getAttribute("action");
  const again =
    (address && main.querySelector(`a[href="${CSS.escape(address)}"]`)) ??
    (action && main.querySelector(`form[action="${CSS.escape(action)}"] button`));
  const heading = main.querySelector("h1");
  if (!again) heading.tabIndex = -1;
  (again || heading).focus();
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
  document.body.append(spoken);
  listen();
  document.addEventListener("visibilitychange", listen);
}
