import type { Color } from "ansi-sequence-parser";

/** The colors that terminals name black, red, green, yellow, blue, magenta, cyan, white, then bright ones. */
const palette: [number, number, number][] = [
  ...([
    [0, 0, 0],
    [205, 0, 0],
    [0, 205, 0],
    [205, 205, 0],
    [0, 0, 238],
    [205, 0, 205],
    [0, 205, 205],
    [229, 229, 229],
  ] as [number, number, number][]),
  ...([
    [127, 127, 127],
    [255, 0, 0],
    [0, 255, 0],
    [255, 255, 0],
    [92, 92, 255],
    [255, 0, 255],
    [0, 255, 255],
    [255, 255, 255],
  ] as [number, number, number][]),
];
const names = [
  ...["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"],
  ...["brightBlack", "brightRed", "brightGreen", "brightYellow"],
  ...["brightBlue", "brightMagenta", "brightCyan", "brightWhite"],
];
/** The steps of the color cube that follows the 16 colors. */
const cube = [0, 95, 135, 175, 215, 255];

/** One of 16 colors, 0 to 15: only those can be readable on a light and on a dark page. */
export function nearestColor(color: Color): number {
  if (color.type === "named") return names.indexOf(color.name);
  if (color.type === "rgb") return nearest(color.rgb);
  const { index } = color;
  if (index < 16) return index;
  if (index < 232) {
    const cubeIndex = index - 16;
    const step = (divisor: number) => cube[Math.floor(cubeIndex / divisor) % 6] ?? 0;
    return nearest([step(36), step(6), step(1)]);
  }
  const gray = 8 + (index - 232) * 10;
  return nearest([gray, gray, gray]);
}

function nearest(rgb: readonly number[]): number {
  const distances = palette.map((known) =>
    known.reduce((sum, value, index) => sum + (value - (rgb[index] ?? 0)) ** 2, 0),
  );
  return distances.indexOf(Math.min(...distances));
}
