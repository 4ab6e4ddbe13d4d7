/** A whole number that a JavaScript number may not hold, or a text that looks like one. */
const longInteger = /(?:^|[\s:,[-])\d{16,}(?:[\s,\]}]|$)/;
/** Longer ones stay JavaScript numbers, which are infinite. */
const exactInteger = /^-?\d{16,308}$/;

/** Parses JSON with exact whole numbers: large ones become bigints. @throws SyntaxError */
export function parsePayload(text: string): unknown {
  // A reviver makes parsing five times slower.
  return asCelValue(longInteger.test(text) ? JSON.parse(text, toExact) : JSON.parse(text));
}

function toExact(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? "";
  return exactInteger.test(source) ? BigInt(source) : value;
}

/** Wraps objects, also inside arrays. Members are wrapped when read. */
function asCelValue(value: unknown): unknown {
  if (value === null || typeof value !== "object" || value instanceof JsonMap) return value;
  if (!Array.isArray(value)) return new JsonMap(value as Record<string, unknown>);
  for (let index = 0; index < value.length; index++) value[index] = asCelValue(value[index]);
  return value;
}

/**
 * A JSON object that the library takes for a Map. In plain objects it reads `constructor` as their type and finds
 * inherited keys. Real Maps, or a subclass, take longer to make than the JSON takes to parse.
 */
class JsonMap {
  readonly #members: Record<string, unknown>;

  constructor(members: Record<string, unknown>) {
    this.#members = members;
  }

  get size(): number {
    return Object.keys(this.#members).length;
  }

  has(key: unknown): boolean {
    return typeof key === "string" && Object.hasOwn(this.#members, key);
  }

  get(key: unknown): unknown {
    return this.has(key) ? asCelValue(this.#members[key as string]) : undefined;
  }

  *[Symbol.iterator](): Iterator<[string, unknown]> {
    for (const key of Object.keys(this.#members)) yield [key, this.get(key)];
  }

  /**
   * Empty. The library reads the first entry only to name the type, and keeps every such name for good: payloads
   * could fill its memory.
   */
  entries(): Iterator<[string, unknown]> {
    return [].values();
  }
}

Object.setPrototypeOf(JsonMap.prototype, Map.prototype);
Object.defineProperty(JsonMap.prototype, "constructor", { value: Map });
