import { trim } from "../../process/own-buffers.ts";

/** The form of a payload: JSON, or a form with the JSON as its parameter `payload`. */
export type PayloadFormat = "json" | "form";

const [percent, plus, blank] = [0x25, 0x2b, 0x20];
const name = "payload=";

/**
 * Reads the parameter `payload` of a form (https://url.spec.whatwg.org/#urlencoded-parsing). Blocks the event loop for
 * up to 1 ms with 128 KB: a thread reads larger forms.
 * @returns undefined without one
 */
export function readFormPayload(form: Buffer): Buffer | undefined {
  const isFirst = form.subarray(0, name.length).equals(Buffer.from(name));
  const start = isFirst ? 0 : form.indexOf(`&${name}`) + 1;
  if (!isFirst && start === 0) return undefined;
  const from = start + name.length;
  const next = form.indexOf("&", from);
  const value = form.subarray(from, next === -1 ? form.length : next);
  const read = Buffer.allocUnsafeSlow(value.length);
  let length = 0;
  for (let index = 0; index < value.length; ) {
    const byte = value[index] as number;
    const escaped = byte === percent ? hexAt(value, index + 1) : -1;
    read[length++] = escaped >= 0 ? escaped : byte === plus ? blank : byte;
    index += escaped >= 0 ? 3 : 1;
  }
  return trim(read.subarray(0, length));
}

/** -1: there are no two digits. */
function hexAt(bytes: Buffer, index: number): number {
  const high = digitOf(bytes[index]);
  const low = digitOf(bytes[index + 1]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function digitOf(byte = 0): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 0x20;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}
