/** NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return (percentile(sorted, 0.5) + (sorted[Math.floor(sorted.length / 2)] ?? Number.NaN)) / 2;
}

/** Returns a percentile of sorted values; NaN without any. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Aligns the first column left, the others right. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const [header = [], ...body] = rows;
  const widths = header.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const align = (cell: string, column: number, width: number) =>
    column === 0 ? cell.padEnd(width) : cell.padStart(width);
  const line = (row: readonly string[]) =>
    widths
      .map((width, column) => align(row[column] ?? "", column, width))
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "─".repeat(width)).join("──");
  return [line(header), rule, ...body.map(line)].join("\n");
}

/** Three significant digits: 12,345 · 123 · 12.3 · 1.23; a dash for NaN. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
