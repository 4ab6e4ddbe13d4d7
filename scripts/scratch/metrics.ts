/** Returns the text that Prometheus would read. */
export async function readMetrics(port: number): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}

/** @param start of the line: a name, and its labels. Returns NaN without such a line */
export function metricOf(metrics: string, start: string): number {
  const line = metrics.split("\n").find((each) => each.startsWith(start));
  return Number(line?.split(" ").at(-1) ?? Number.NaN);
}
