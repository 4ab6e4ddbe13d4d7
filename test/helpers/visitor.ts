import { type Answer, request } from "./http.ts";

/** Somebody at the pages without a browser. */
export interface Visitor {
  /** What the `Cookie` header carries. Can be set, to have another browser's. */
  cookie: string;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** Send a form, with the token of the page that was seen last unless the fields have one. */
  post(path: string, fields?: Fields, headers?: Record<string, string>): Promise<Answer>;
}

type Fields = Record<string, string> | [string, string][];

/** A visitor who keeps cookies and sees redirects instead of following them. */
export function visitor(url: string, cookie = ""): Visitor {
  let csrfToken: string | undefined;
  const send = async (path: string, init: RequestInit): Promise<Answer> => {
    const headers = { ...(self.cookie && { cookie: self.cookie }), ...(init.headers as object) };
    const answer = await request(url + path, { redirect: "manual", ...init, headers });
    const [given] = answer.headers.getSetCookie();
    if (given) self.cookie = given.split(";")[0] ?? "";
    csrfToken = csrfTokenIn(answer.text) ?? csrfToken;
    return answer;
  };
  const self: Visitor = {
    cookie,
    get: (path, headers = {}) => send(path, { headers }),
    async post(path, fields = {}, headers = {}) {
      const body = new URLSearchParams(fields);
      if (!body.has("csrf_token")) {
        if (csrfToken === undefined) await self.get("/sign-in");
        body.set("csrf_token", csrfToken ?? "");
      }
      return send(path, { method: "POST", body, headers });
    },
  };
  return self;
}

/** What the forms of a page carry to show that they are ours. */
export function csrfTokenIn(html: string): string | undefined {
  return /name="csrf_token" value="([^"]*)"/.exec(html)?.[1];
}
