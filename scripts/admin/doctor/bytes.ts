export const gibibyte = 1024 ** 3;

const units = ["bytes", "KB", "MB", "GB", "TB"];

/** `1.5 GB`: for people, rounded. */
export function showBytes(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const value = bytes / 1024 ** power;
  return `${value.toFixed(power > 0 && value < 10 ? 1 : 0)} ${units[power]}`;
}
