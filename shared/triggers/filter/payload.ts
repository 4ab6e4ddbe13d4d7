/** A whole number of so many digits that a JavaScript number may not hold it, or a text that looks like one. */
const longInteger = /(?:^|[\s:,[-])\d{16,}(?:[\s,\]}]|$)/;
/** Larger ones are infinite as JavaScript numbers, and here too. */
const exactInteger = /^-?\d{16,308}$/;

/** JSON, with its whole numbers exact: those that are none in JavaScript become bigints. @throws SyntaxError */
export function parsePayload(text: string): unknown {
  // Looking at every number's text takes five times as long.
  return asCelValue(longInteger.test(text) ? JSON.parse(text, toExact) : JSON.parse(text));
}

function toExact(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? "";
  return exactInteger.test(source) ? BigInt(source) : value;
}

/** Objects become `JsonMap`, wherever they are in arrays; what is in objects is left until somebody asks for it. */
function asCelValue(value: unknown): unknown {
  if (value === null || typeof value !== "object" || value instanceof JsonMap) return value;
  if (!Array.isArray(value)) return new JsonMap(value as Record<string, unknown>);
  for (let at = 0; at < value.length; at++) value[at] = asCelValue(value[at]);
  return value;
}

/**
 * A JSON object, shown to the library as a Map. Of plain objects it reads `constructor` to learn what they are and
 * looks keys up with `in`, so that payloads with members of such names would be misjudged. Copying a large payload
 * into real Maps takes longer than parsing it.
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
   * None: the library looks at the first entry only to make itself a name for the type, such as
   * map<string, map<string, list<double>>>. It keeps all such names, and payloads could make it keep very many.
   */
  entries(): Iterator<[string, unknown]> {
    return [].values();
  }
}

Object.setPrototypeOf(JsonMap.prototype, Map.prototype);
Object.defineProperty(JsonMap.prototype, "constructor", { value: Map });
