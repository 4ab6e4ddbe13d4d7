/** Aligns the first column left, the others right. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const line = (row: readonly string[]) =>
    widths
      .map((width, column) => {
        const cell = row[column] ?? "";
        return column === 0 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join("  ")
      .trimEnd();
  const [header = [], ...body] = rows;
  const rule = widths.map((width) => "─".repeat(width)).join("──");
  return [line(header), rule, ...body.map(line)].join("\n");
}

/** Three significant digits: 12,345 · 123 · 12.3 · 1.23; a dash for NaN. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
