/** May also match inside a text. */
const longInteger = /(?:^|[\s:,[-])\d{16,}(?:[\s,\]}]|$)/;
/** Longer numbers become infinite. */
const exactInteger = /^-?\d{16,308}$/;

/** Large whole numbers become bigints. @throws SyntaxError */
export function parsePayload(text: string): unknown {
  // A reviver makes parsing five times slower.
  return asCelValue(longInteger.test(text) ? JSON.parse(text, toExact) : JSON.parse(text));
}

function toExact(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? "";
  return exactInteger.test(source) ? BigInt(source) : value;
}

function asCelValue(value: unknown): unknown {
  if (value === null || typeof value !== "object" || value instanceof JsonMap) return value;
  if (!Array.isArray(value)) return new JsonMap(value as Record<string, unknown>);
  for (let index = 0; index < value.length; index++) value[index] = asCelValue(value[index]);
  return value;
}

/**
 * A Map as far as the library looks. It takes `constructor` of a plain object for its type, and finds inherited keys.
 * Making real Maps takes longer than parsing.
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

  /** The library keeps the first entry's type name for good: payloads could fill its memory. */
  entries(): Iterator<[string, unknown]> {
    return [].values();
  }
}

Object.setPrototypeOf(JsonMap.prototype, Map.prototype);
Object.defineProperty(JsonMap.prototype, "constructor", { value: Map });
