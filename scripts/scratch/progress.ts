const startedAt = performance.now();

/** stdout is for results. */
export function step(text: string): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  process.stderr.write(`${seconds.padStart(4)} s  ${text}\n`);
}
