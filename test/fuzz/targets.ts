import fc from "fast-check";
import { seldom } from "./fuzz.ts";
import type { Tenant } from "./installation.ts";
import { jsonBySchema, type Names } from "./json-by-schema.ts";
import { oddSegment } from "./odd-text.ts";
import type { Operation } from "./operations.ts";

/** Stands for a resource that an earlier request created: a deletion would end what others need. */
export const toDelete = "created-before";

export interface Targets {
  own: Tenant;
  foreign: Tenant;
}

type Ids = Record<string, string>;

/** A parameter is of the caller's tenant, of the other, or odd. */
export function pathOf({ path, method }: Operation, { own, foreign }: Targets) {
  const ofOwner = (ids: Ids): Ids => ({ ...ids, id: (path.includes("/jobs/") ? ids.job : ids.build) ?? "" });
  const [ownIds, foreignIds]: [Ids, Ids] = [ofOwner(own.ids), ofOwner(foreign.ids)];
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const isSpared = (name: string) => method === "DELETE" && name === names.at(-1);
  const segmentOf = (name: string) => {
    const usual = isSpared(name) ? toDelete : (ownIds[name] ?? "x");
    return fc.oneof(
      { weight: 16, arbitrary: fc.constant({ text: usual, isPlain: true }) },
      { weight: 2, arbitrary: fc.constant({ text: foreignIds[name] ?? "x", isPlain: true }) },
      { weight: 1, arbitrary: fc.constant({ text: usual.toUpperCase(), isPlain: !isSpared(name) }) },
      { weight: 1, arbitrary: oddSegment.map((text) => ({ text, isPlain: false })) },
    );
  };
  const suffix = seldom(fc.constantFrom("/", "//", "/x", "/..", "/%2e", "#a", ";a=b"), fc.constant(""), 60);
  return fc.tuple(suffix, ...names.map(segmentOf)).map(([suffix, ...values]) => {
    const parameters = Object.fromEntries(names.map((name, index) => [name, values[index]?.text ?? ""]));
    const text = path.replace(/\{(\w+)\}/g, (_, name: string) => parameters[name] ?? "");
    return {
      text: text + suffix,
      parameters,
      isPlain: suffix === "" && values.every((value) => value.isPlain),
    };
  });
}

export function queryOf({ query }: Operation, names: Names): fc.Arbitrary<string> {
  const unknown = fc.constantFrom(
    "x",
    "per_page",
    "page",
    "after",
    "state[]",
    "__proto__",
    "a[b][c]",
    "%",
    "state[0]",
  );
  const odd = fc.tuple(unknown, oddSegment).map(([name, value]) => `${name}=${value}`);
  const known = query.map(({ name, schema }) => {
    const value = jsonBySchema(schema, names)
      .map(asQueryValue)
      .filter((text) => text.length < 6000);
    const one = seldom(oddSegment, value, 4).map((text) => `${name}=${text}`);
    return fc.oneof(
      { weight: 12, arbitrary: fc.constant("") },
      { weight: 5, arbitrary: one },
      { weight: 1, arbitrary: fc.tuple(one, one).map(([first, second]) => `${first}&${second}`) },
      { weight: 1, arbitrary: fc.constantFrom(name, `${name}[]=1`, `${name}[a]=1`, `${name}=`) },
    );
  });
  const extra = seldom(odd, fc.constant(""), query.length > 0 ? 9 : 30);
  return fc.tuple(...known, extra).map((pairs) => {
    const text = pairs.filter(Boolean).join("&");
    return text && `?${text}`;
  });
}

/** JSON text as it would stand in a query: a string without its quotes. */
export function asQueryValue(json: string): string {
  return encodeURIComponent(json.replace(/^"|"$/g, "").toWellFormed());
}
