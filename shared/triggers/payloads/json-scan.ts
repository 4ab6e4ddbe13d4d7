import { endsValue, isPlain, jsonState, jsonTransitions } from "./json-grammar.ts";

export type PayloadProblem = "too_deep" | "invalid_json";

const [invalid, value, firstElement, firstKey, nextKey, afterValue, string, key] = [
  ...["invalid", "value", "firstElement", "firstKey", "nextKey", "afterValue", "string", "key"],
].map(jsonState) as [number, number, number, number, number, number, number, number];
const openObject = jsonState("openObject");
const openArray = jsonState("openArray");
const closeObject = jsonState("closeObject");
const comma = jsonState("comma");

/** Checks slices of valid UTF-8, and counts values, without making them. */
export class JsonScan {
  readonly #bytes: Uint8Array;
  readonly #maxDepth: number;
  /** By depth; false in an array. */
  readonly #isObject: boolean[] = [false];
  #depth = 0;
  #state = value;
  #index = 0;
  #values = 1;

  constructor(bytes: Uint8Array, maxDepth: number) {
    this.#bytes = bytes;
    this.#maxDepth = maxDepth;
  }

  get isAtEnd(): boolean {
    return this.#index === this.#bytes.length;
  }

  /** The bytes so far are one value. */
  get isComplete(): boolean {
    return this.#depth === 0 && endsValue[this.#state] === true;
  }

  /** The number of values so far. An empty object or list counts as two. */
  get values(): number {
    return this.#values;
  }

  advance(byteCount: number): PayloadProblem | undefined {
    // Local variables halve the time.
    const bytes = this.#bytes;
    const isObject = this.#isObject;
    const end = Math.min(bytes.length, this.#index + byteCount);
    let depth = this.#depth;
    let state = this.#state;
    let index = this.#index;
    let values = this.#values;
    for (; index < end; index++) {
      // Plain bytes keep the state; a transition takes twice the time.
      if (state === string || state === key) {
        while (index < end && isPlain[bytes[index] as number] === 1) index++;
        if (index === end) break;
      }
      const next = jsonTransitions[state * 256 + (bytes[index] as number)] as number;
      if (next < openObject) {
        if (next === invalid) return "invalid_json";
        state = next;
      } else if (next === openObject || next === openArray) {
        if (++depth > this.#maxDepth) return "too_deep";
        values++;
        isObject[depth] = next === openObject;
        state = next === openObject ? firstKey : firstElement;
      } else {
        if (depth === 0) return "invalid_json";
        if (next === comma) {
          state = isObject[depth] ? nextKey : value;
          values++;
        } else if (isObject[depth--] === (next === closeObject)) state = afterValue;
        else return "invalid_json";
      }
    }
    this.#depth = depth;
    this.#state = state;
    this.#index = index;
    this.#values = values;
    return undefined;
  }
}
