import { type Answer, request } from "./http.ts";
import { password } from "./organization.ts";

/** Drives the pages over HTTP: follows no redirect and runs no script. For Chromium see browser.ts. */
export interface Visitor {
  /** The `Cookie` header. Can be set to another visitor's. */
  cookie: string;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** Sends a form, with the CSRF token of the last page unless the fields have one. */
  post(path: string, fields?: Fields, headers?: Record<string, string>): Promise<Answer>;
  /** Sends the sign-in form. */
  signIn(email: string): Promise<Answer>;
}

type Fields = Record<string, string> | [string, string][];

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
    async signIn(email) {
      csrfToken = undefined;
      const answer = await self.post("/sign-in", { email, password });
      csrfToken = undefined;
      await self.get("/"); // the token of the new session
      return answer;
    },
  };
  return self;
}

/** The CSRF token in the forms of a page. */
export function csrfTokenIn(html: string): string | undefined {
  return /name="csrf_token" value="([^"]*)"/.exec(html)?.[1];
}
