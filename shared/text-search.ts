/** V8's own search is fast up to here. */
const maxShortNeedle = 256;

export function contains(text: string, needle: string): boolean {
  return indexOf(text, needle, 0) !== -1;
}

/**
 * Linear (Knuth, Morris and Pratt). V8 took six minutes to search three megabytes for one; Buffer is as slow. RE2JS
 * would have to compile the needle, which takes four seconds for a megabyte of a payload.
 * @returns -1: not found at `start` or behind it
 */
export function indexOf(text: string, needle: string, start: number): number {
  if (needle.length <= maxShortNeedle) return text.indexOf(needle, start);
  if (needle.length > text.length - start) return -1;

  const borders = bordersOf(needle);
  let matched = 0;
  for (let index = start; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    while (matched > 0 && needle.charCodeAt(matched) !== unit) matched = borders[matched - 1] as number;
    if (needle.charCodeAt(matched) === unit) matched++;
    if (matched === needle.length) return index - needle.length + 1;
  }
  return -1;
}

/** The longest border of each prefix. */
function bordersOf(needle: string): Uint32Array {
  const borders = new Uint32Array(needle.length);
  for (let index = 1, length = 0; index < needle.length; index++) {
    const unit = needle.charCodeAt(index);
    while (length > 0 && needle.charCodeAt(length) !== unit) length = borders[length - 1] as number;
    if (needle.charCodeAt(length) === unit) length++;
    borders[index] = length;
  }
  return borders;
}
