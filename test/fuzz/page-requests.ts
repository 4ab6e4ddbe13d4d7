import fc from "fast-check";
import type { Form, Session } from "./crawl.ts";
import { seldom } from "./fuzz.ts";
import { oddHeaders, oddType } from "./odd-headers.ts";
import { oddSegment, oddText } from "./odd-text.ts";
import type { Request } from "./send.ts";

export type Visitor = "admin" | "reader" | "stranger" | "nobody" | "broken";

export interface PageInput {
  visitor: Visitor;
  request: Request;
  /** The form carries the token of its own session. */
  isOwnForm: boolean;
  /** Path, type and headers are those of a browser. */
  isPlain: boolean;
}

export interface Site {
  pages: string[];
  forms: Form[];
  sessions: Record<Exclude<Visitor, "broken">, Session>;
}

/** Would end the session, or what other inputs need. */
const isFinal = (path: string) => /\/(sign-out|delete|replace|revoke)$/.test(path);

export function pageRequests(site: Site): fc.Arbitrary<PageInput> {
  const get = fc.constantFrom(...site.pages).map((path): Form => ({ path, method: "GET", fields: [] }));
  return fc.oneof(
    { weight: 1, arbitrary: get.chain((form) => requestsOfForm(form, site)) },
    { weight: 2, arbitrary: fc.constantFrom(...site.forms).chain((form) => requestsOfForm(form, site)) },
  );
}

function requestsOfForm(form: Form, { sessions }: Site): fc.Arbitrary<PageInput> {
  return fc
    .record({
      visitor: visitors,
      path: pathLike(form.path),
      token: seldom(fc.constantFrom("missing", "odd", "other" as const), fc.constant("own"), 4),
      fields: fieldsLike(form.fields),
      coding: seldom(fc.constantFrom("multipart", "json", "odd" as const), fc.constant("form"), 12),
      type: oddType,
      headers: seldom(fc.oneof(oddHeaders, foreignPages), fc.constant<Request["headers"]>({}), 6),
      oddToken: oddText,
    })
    .map(({ visitor, path, token, fields, coding, type, headers, oddToken }) => {
      const session =
        visitor === "broken" ? { cookie: `signalbox=${oddCookie}`, csrfToken: "" } : sessions[visitor];
      const tokenText = {
        missing: undefined,
        odd: oddToken,
        other: sessions.stranger.csrfToken,
        own: session.csrfToken,
      }[token === "own" && isFinal(form.path) ? "odd" : token];
      const given =
        tokenText === undefined ? fields : [...fields, ["csrf_token", tokenText] as [string, string]];
      const isForm = form.method === "POST";
      const body = isForm ? encode(given, coding) : { bytes: undefined, type: undefined };
      const contentType = coding === "odd" ? type : body.type;
      const request: Request = {
        method: form.method,
        target: isForm ? path : withQuery(path, fields),
        headers: {
          ...(session.cookie ? { cookie: session.cookie } : {}),
          ...(contentType === undefined ? {} : { "content-type": contentType }),
          ...headers,
        },
        body: body.bytes,
      };
      const isPlain = path === form.path && Object.keys(headers).length === 0;
      return { visitor, request, isPlain, isOwnForm: tokenText === session.csrfToken };
    });
}

const oddCookie = "sbss_x; a; =; signalbox=%00";
const visitors = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Visitor>("admin") },
  { weight: 4, arbitrary: fc.constantFrom<Visitor>("reader", "stranger", "nobody", "broken") },
);
const foreignPages = fc.constantFrom<Request["headers"]>(
  { origin: "https://evil.example" },
  { origin: "null" },
  { origin: "\u00e9" },
  { "sec-fetch-site": "cross-site" },
  { host: "evil.example" },
  { host: "" },
);

/** The path, seldom with an odd segment or query. */
function pathLike(path: string): fc.Arbitrary<string> {
  const [pathname = "", query] = path.split("?");
  const segments = pathname.split("/").slice(1);
  const changed = fc
    .tuple(fc.nat(segments.length - 1), oddSegment)
    .map(
      ([index, odd]) => `/${segments.with(index, odd).join("/")}${query === undefined ? "" : `?${query}`}`,
    );
  const queried = fc
    .tuple(
      fc.constantFrom("notice", "to", "older", "newer", "page", "after", "state", "branch", "x"),
      oddSegment,
    )
    .map(([name, value]) => `${pathname}?${name}=${value}&${query ?? ""}`);
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(path) },
    { weight: 2, arbitrary: changed },
    { weight: 2, arbitrary: queried },
    { weight: 1, arbitrary: oddSegment.map((odd) => `${pathname}/${odd}`) },
  );
}

function fieldsLike(fields: Form["fields"]): fc.Arbitrary<Form["fields"]> {
  const each = fields.map(([name, value]) => {
    const same: Form["fields"] = [[name, value]];
    const short = fc.string({ minLength: 1, maxLength: 20 });
    return fc.oneof(
      { weight: 10, arbitrary: fc.constant(same) },
      { weight: 4, arbitrary: short.map((text): Form["fields"] => [[name, text]]) },
      { weight: 2, arbitrary: oddText.map((text): Form["fields"] => [[name, text]]) },
      { weight: 1, arbitrary: fc.constant<Form["fields"]>([]) },
      { weight: 1, arbitrary: oddText.map((text): Form["fields"] => [...same, [name, text]]) },
    );
  });
  const extra = seldom(
    fc.tuple(oddText, oddText).map((pair): Form["fields"] => [pair]),
    fc.constant<Form["fields"]>([]),
  );
  return fc.tuple(...each, extra).map((all) => all.flat());
}

function withQuery(path: string, fields: Form["fields"]): string {
  if (fields.length === 0) return path;
  return `${path.split("?")[0]}?${new URLSearchParams(fields)}`.slice(0, 6000);
}

function encode(fields: Form["fields"], coding: string): { bytes: Buffer; type: string } {
  if (coding === "json")
    return { bytes: Buffer.from(JSON.stringify(Object.fromEntries(fields))), type: "application/json" };
  if (coding === "multipart") {
    const parts = fields.map(
      ([name, value]) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    return { bytes: Buffer.from(`${parts.join("")}--x--\r\n`), type: "multipart/form-data; boundary=x" };
  }
  return {
    bytes: Buffer.from(String(new URLSearchParams(fields))),
    type: "application/x-www-form-urlencoded",
  };
}
