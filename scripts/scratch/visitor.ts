import { type Answer, request } from "./http.ts";
import { password } from "./organization.ts";

/** Drives pages over HTTP without redirects or scripts. */
export interface Visitor {
  cookie: string;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** Adds the last page's CSRF token unless `fields` has one. */
  post(path: string, fields?: Fields, headers?: Record<string, string>): Promise<Answer>;
  signIn(email: string): Promise<Answer>;
}

type Fields = Record<string, string> | [string, string][];

export function visitor(url: string, cookie = ""): Visitor {
  let csrfToken: string | undefined;
  const send = async (path: string, init: RequestInit): Promise<Answer> => {
    const headers = { ...(self.cookie && { cookie: self.cookie }), ...(init.headers as object) };
    const answer = await request(url + path, { redirect: "manual", ...init, headers });
    self.cookie = withCookies(self.cookie, answer.headers.getSetCookie());
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
    async signIn(email) {
      csrfToken = undefined;
      const answer = await self.post("/sign-in", { email, password });
      csrfToken = undefined;
      await self.get("/user/password"); // the new session's token
      return answer;
    },
  };
  return self;
}

/** As a browser keeps them: one of each name. @param given values of `Set-Cookie` */
function withCookies(kept: string, given: string[]): string {
  const pairs = [...kept.split("; "), ...given.map((each) => each.split(";", 1)[0] ?? "")];
  const byName = new Map(pairs.filter(Boolean).map((pair) => [pair.split("=", 1)[0], pair]));
  return [...byName.values()].join("; ");
}

export function csrfTokenIn(html: string): string | undefined {
  return /name="csrf_token" value="([^"]*)"/.exec(html)?.[1];
}
