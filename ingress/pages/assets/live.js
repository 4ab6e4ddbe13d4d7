// A page that watches something loads itself again when that changes. Without this script a reload shows it too.
const address = document.body.dataset.events;
const pauseMs = 400;

function isBeingFilledIn(main) {
  const inputs = [...main.querySelectorAll("input:not([type=hidden]), textarea, select")];
  return inputs.some(
    (input) =>
      input === document.activeElement || (input.value !== input.defaultValue && "defaultValue" in input),
  );
}

async function refresh() {
  const main = document.querySelector("main");
  if (isBeingFilledIn(main)) return setTimeout(refresh, 5 * pauseMs);
  const response = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (response.redirected || !response.ok) return location.reload();
  const next = new DOMParser().parseFromString(await response.text(), "text/html");
  for (const open of main.querySelectorAll("details[open][id]"))
    next.getElementById(open.id)?.setAttribute("open", "");
  main.replaceWith(next.querySelector("main"));
}

if (address) {
  let isWaiting = false;
  let wasOpen = false;
  const refreshSoon = () => {
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(() => {
      isWaiting = false;
      refresh().catch(() => {}); // the server is away: the events tell when it is back
    }, pauseMs);
  };
  const events = new EventSource(address);
  events.addEventListener("changed", refreshSoon);
  events.addEventListener("open", () => {
    if (wasOpen) refreshSoon(); // what changed while nobody told us
    wasOpen = true;
  });
}
