import { formatNumber } from "../table.ts";
import type { Sample } from "./sample.ts";

/** Small multiples, each of the columns that end alike. */
const panels = [
  { title: "Memory, MB", pattern: /^(ingress|worker|Redis|Postgres) MB$/ },
  { title: "Heap in use, with buffers, MB", pattern: / heap MB$/ },
  { title: "File descriptors", pattern: /^(ingress|worker|Redis) descriptors$/ },
  { title: "Redis keys", pattern: /^Redis keys$/ },
  { title: "Write-ahead log, MB", pattern: /^WAL MB$/ },
  { title: "Database, MB", pattern: /^database MB$/ },
  { title: "Payloads stored, MB", pattern: /^payloads MB$/ },
  { title: "Oldest unbuilt delivery, seconds", pattern: /^oldest unbuilt s$/ },
];
const perRow = 2;
const plot = { width: 380, height: 110 };
const cell = { width: 470, height: 175, left: 55, top: 45 };
const header = 50;
const styles = `
  svg { color-scheme: light dark; --text: #1f2328; --dim: #59636e; --rule: #d1d9e0; --back: #ffffff; }
  svg { --c0: #0969da; --c1: #bc4c00; --c2: #1a7f37; --c3: #8250df; }
  @media (prefers-color-scheme: dark) {
    svg { --text: #f0f6fc; --dim: #9198a1; --rule: #3d444d; --back: #0d1117; }
    svg { --c0: #4493f8; --c1: #f0883e; --c2: #3fb950; --c3: #ab7df8; }
  }
  text { font: 12px system-ui, sans-serif; fill: var(--dim); }
  .title { font-weight: 600; fill: var(--text); }
  .head { font-size: 16px; font-weight: 600; fill: var(--text); }
  line { stroke: var(--rule); }
  .phase { stroke: var(--dim); stroke-dasharray: 3 3; }
  polyline { fill: none; stroke-width: 1.5; stroke-linejoin: round; }
`;

/** Draws the samples over time, for light and dark pages. */
export function drawSamples(title: string, samples: Sample[]): string {
  const columns = Object.keys(samples[0]?.figures ?? {});
  const lastSecond = samples.at(-1)?.seconds ?? 1;
  const floodAt = samples.find(({ phase }) => phase === "flood")?.seconds;
  const cells = panels.map(({ title, pattern }, index) => {
    const [column, row] = [index % perRow, Math.floor(index / perRow)];
    const place = `translate(${column * cell.width} ${header + row * cell.height})`;
    const lines = columns.filter((name) => pattern.test(name)).map((name) => lineOf(name, samples));
    return `<g transform="${place}">${panel({ title, lines, lastSecond, floodAt })}</g>`;
  });
  const width = perRow * cell.width;
  const height = header + Math.ceil(panels.length / perRow) * cell.height;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${title}">`,
    `<style>${styles}</style>`,
    `<rect width="${width}" height="${height}" fill="var(--back)"/>`,
    `<text class="head" x="${cell.left}" y="30">${title}</text>`,
    ...cells,
    "</svg>",
    "",
  ].join("\n");
}

interface Line {
  name: string;
  points: { seconds: number; value: number }[];
}

function lineOf(name: string, samples: Sample[]): Line {
  const points = samples.map(({ seconds, figures }) => ({ seconds, value: figures[name] ?? 0 }));
  return { name: name.split(" ")[0] ?? name, points };
}

function panel(drawn: {
  title: string;
  lines: Line[];
  lastSecond: number;
  floodAt: number | undefined;
}): string {
  const { title, lines, lastSecond, floodAt } = drawn;
  const top = roundUp(Math.max(...lines.flatMap(({ points }) => points.map(({ value }) => value)), 0));
  const x = (seconds: number) => (cell.left + (seconds / lastSecond) * plot.width).toFixed(1);
  const y = (value: number) => (cell.top + plot.height - (value / top) * plot.height).toFixed(1);
  const minutes = Math.round(lastSecond / 60);
  const rules = [0, top / 2, top].map(
    (value) =>
      `<line x1="${cell.left}" x2="${cell.left + plot.width}" y1="${y(value)}" y2="${y(value)}"/>` +
      `<text x="${cell.left - 6}" y="${Number(y(value)) + 4}" text-anchor="end">${tick(value)}</text>`,
  );
  const bottom = cell.top + plot.height;
  return [
    `<text class="title" x="${cell.left}" y="18">${title}</text>`,
    ...(lines.length > 1 ? lines.map(({ name }, index) => legend(name, index)) : []),
    ...rules,
    ...(floodAt ? [phaseLine(x(floodAt), bottom)] : []),
    `<text x="${x(lastSecond)}" y="${bottom + 16}" text-anchor="end">${minutes} min</text>`,
    ...lines.map(({ points }, index) => {
      const path = points.map(({ seconds, value }) => `${x(seconds)},${y(value)}`).join(" ");
      return `<polyline points="${path}" stroke="var(--c${index})"/>`;
    }),
  ].join("");
}

function legend(name: string, index: number): string {
  const x = cell.left + index * 90;
  return `<text x="${x}" y="36" style="fill: var(--c${index})">${name}</text>`;
}

function phaseLine(x: string, bottom: number): string {
  return (
    `<line class="phase" x1="${x}" x2="${x}" y1="${cell.top}" y2="${bottom}"/>` +
    `<text x="${x}" y="${bottom + 16}" text-anchor="middle">flood</text>`
  );
}

/** To 1, 2 or 5 times a power of ten. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return ([1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10) * power;
}

function tick(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString("en-US") : formatNumber(value);
}
