/** Members whose values depend on the time of the day, or on the requests before. */
const fixed = new Map<string, unknown>(
  Object.entries({
    next_build_at: "2026-02-02T07:00:00.000Z",
    reset_at: "2026-01-31T12:01:00.000Z",
    current: 5,
    reset: 60,
  }),
);

/** Replaces random values by samples, the same for the same value, so that a recording does not change. */
export class SampleValues {
  readonly #frozenAt: number;
  readonly #ids = new Map<string, string>();

  /** @param frozenAt the time of the test's clock */
  constructor(frozenAt: Date) {
    this.#frozenAt = frozenAt.getTime();
  }

  replace(value: unknown, name = ""): unknown {
    if (value !== null && fixed.has(name)) return fixed.get(name);
    if (Array.isArray(value)) return value.map((each) => this.replace(each, name));
    if (typeof value === "object" && value !== null)
      return Object.fromEntries(
        Object.entries(value).map(([key, each]) => [this.#replaceIds(key), this.replace(each, key)]),
      );
    if (typeof value === "number") return this.#replaceTime(value, name);
    return typeof value === "string" ? this.#replaceText(value, name) : value;
  }

  #replaceText(text: string, name: string): string {
    if (name === "installation") return "0123456789abcdef0123456789abcdef";
    if (name === "n") return "0123456789abcdef".repeat(16);
    if (/^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+$/.test(text)) return "eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiJ9.e30.c2ln";
    if (name === "end_cursor" || name === "after") return "MTc2OTg2MDgwMDAwMCAwMTk4YzBkZQ";
    if (name === "graphql_id") return toBase64(this.#replaceIds(fromBase64(text)));
    return this.#replaceIds(text)
      .replace(/\b(sb[a-z]{2}_)[0-9A-Za-z]{49}/g, (_, prefix: string) =>
        prefix.padEnd(54, "0123456789abcdef"),
      )
      .replace(/\b[B-DF-HJ-NP-TV-Z]{4}-[B-DF-HJ-NP-TV-Z]{4}\b/g, "WDJB-MJHT")
      .replace(/\bperson-\d+@/g, "person-1@")
      .replace(/\bexpires=\d+&signature=[\w-]{43}/g, `expires=1769864400&signature=${"x".repeat(43)}`)
      .replace(/\.\d{10}\.[\w-]{43}$/g, `.1769947200.${"x".repeat(43)}`)
      .replace(/X{20}\w\w/g, `${"X".repeat(20)}ef`)
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, (time) =>
        new Date(this.#shift(Date.parse(time))).toISOString(),
      );
  }

  #replaceIds(text: string): string {
    return text.replace(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, (id) => {
      const known =
        this.#ids.get(id) ?? `0198c0de-0000-7000-8000-${String(this.#ids.size + 1).padStart(12, "0")}`;
      this.#ids.set(id, known);
      return known;
    });
  }

  /** Seconds since 1970. */
  #replaceTime(value: number, name: string): number {
    return ["timestamp", "iat", "exp"].includes(name) ? this.#shift(value * 1000) / 1000 : value;
  }

  /** Sets the time at which the clock stopped to a sample. Times before it become the same. */
  #shift(time: number): number {
    const seconds = Math.max(0, Math.ceil((time - this.#frozenAt) / 1000));
    return Date.parse("2026-01-31T12:00:00.000Z") + seconds * 1000;
  }
}

function toBase64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function fromBase64(text: string): string {
  return Buffer.from(text, "base64").toString();
}
