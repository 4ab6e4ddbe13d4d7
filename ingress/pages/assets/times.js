// Shows exact times in the reader's zone, and lets the durations of what still runs grow.
const tickMs = 1000;
/** The scale of bars does not grow by itself. */
const refreshMs = 30_000;
const lengths = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
];
const local = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});

function localize(root) {
  for (const time of root.querySelectorAll("time.exact"))
    time.textContent = local.format(new Date(time.dateTime));
}

/** As the server writes it: `2 d 3 h`, `1 min 5 s`. */
function durationInWords(seconds) {
  const first = lengths.findIndex(([, length]) => seconds >= length);
  if (first < 0) return "less than 1 s";
  let rest = seconds;
  const parts = lengths.slice(first, first + 2).map(([unit, length]) => {
    const amount = Math.floor(rest / length);
    rest -= amount * length;
    return amount > 0 ? `${amount} ${unit}` : "";
  });
  return parts.filter(Boolean).join(" ");
}

/** Bars are in parts of a day. */
const secondsPerPercent = 864;

/** When each duration was 0. The reader's clock may differ from the server's. */
const starts = new WeakMap();

function tick() {
  const now = performance.now() / 1000;
  for (const growing of document.querySelectorAll("[data-seconds]")) {
    if (!starts.has(growing)) {
      starts.set(growing, now - Number(growing.dataset.seconds));
      continue;
    }
    const seconds = Math.floor(now - starts.get(growing));
    if (growing.tagName === "rect") growing.setAttribute("width", `${seconds / secondsPerPercent}%`);
    else growing.textContent = durationInWords(seconds);
  }
}

localize(document);
// A refreshed page is compared with the present one, so its times change first.
addEventListener("parsed", ({ detail }) => localize(detail));
tick();
setInterval(tick, tickMs);
setInterval(() => {
  if (document.querySelector(".growing")) dispatchEvent(new Event("stale"));
}, refreshMs);
