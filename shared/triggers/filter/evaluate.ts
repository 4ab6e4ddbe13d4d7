import { LRUCache } from "lru-cache";
import type { StoredHeader } from "../../vocabulary.ts";
import { compileFilter, type FilterOutcome } from "./compile.ts";
import { parsePayload } from "./payload.ts";

/** Does this delivery pass this filter? */
export interface FilterInput {
  expression: string;
  /** Of the delivery. */
  id: string;
  receivedAt: Date;
  headers: StoredHeader[];
  /** The payload, exactly as it came. */
  body: Uint8Array;
}

const compiled = new LRUCache<string, ReturnType<typeof compileFilter>>({ max: 500 });

/** Never throws, but may take long: `filters.ts` does this in a thread and within a deadline. */
export function evaluateFilter({ expression, id, receivedAt, headers, body }: FilterInput): FilterOutcome {
  const compilation = compileOnce(expression);
  if ("problem" in compilation) return { error: compilation.problem };

  try {
    const payload = parsePayload(Buffer.from(body.buffer, body.byteOffset, body.length).toString("utf8"));
    return compilation.filter({
      id,
      created_at: receivedAt.toISOString(),
      payload,
      headers: headersByKey(headers),
    });
  } catch {
    return { error: "The payload cannot be read" };
  }
}

function compileOnce(expression: string): ReturnType<typeof compileFilter> {
  const known = compiled.get(expression);
  if (known) return known;
  const compilation = compileFilter(expression);
  compiled.set(expression, compilation);
  return compilation;
}

/**
 * `X-GitHub-Event` becomes `HTTP_X_GITHUB_EVENT`, as in CGI, and so does every other name: `Content-Type` is no
 * exception. Values of a name that came several times are joined (RFC 9110 §5.3); secrets have none.
 */
function headersByKey(headers: StoredHeader[]): Map<string, string> {
  const byKey = new Map<string, string>();
  for (const [name, value] of headers) {
    if (value === null) continue;
    const key = `HTTP_${name.toUpperCase().replaceAll("-", "_")}`;
    const before = byKey.get(key);
    byKey.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  return byKey;
}
