import { csrfTokenIn } from "../../scripts/scratch/visitor.ts";
import { startSession } from "../../shared/accounts/sessions.ts";
import type { User } from "../../shared/accounts/user-store.ts";
import { request } from "../helpers/http.ts";
import type { World } from "../helpers/world.ts";

export interface Session {
  cookie: string;
  csrfToken: string;
}

export interface Form {
  /** Its action. */
  path: string;
  method: string;
  fields: [name: string, value: string][];
}

const maxPages = 300;

/** A browser's session, signed in if `user` is given. */
export async function openSession(
  { services, url }: Pick<World, "services" | "url">,
  user?: User,
): Promise<Session> {
  const token = user && (await startSession(services, user, ""));
  const given = token && `signalbox=${token}; __Host-signalbox=${token}`; // its name where the public address is https
  const { headers, text } = await request(`${url}/sign-in`, { headers: given ? { cookie: given } : {} });
  const home = await request(`${url}/`, { headers: given ? { cookie: given } : {} });
  const cookie = given ?? headers.getSetCookie()[0]?.split(";")[0] ?? "";
  return { cookie, csrfToken: csrfTokenIn(text) ?? csrfTokenIn(home.text) ?? "" };
}

/** Follows every link, and returns the pages and the forms on them. */
export async function crawl(url: string, { cookie }: Session, start: string[]) {
  const pages = new Set(start);
  const forms = new Map<string, Form>();
  for (const page of pages) {
    const { status, headers, text } = await request(url + page, { headers: { cookie }, redirect: "manual" });
    if (status !== 200 || !headers.get("content-type")?.startsWith("text/html")) continue;
    for (const [, link = ""] of text.matchAll(/<a [^>]*href="(\/[^"#]*)/g))
      if (pages.size < maxPages) pages.add(decodeEntities(link));
    for (const form of formsIn(text, page))
      forms.set(`${form.method} ${form.path} ${form.fields.length}`, form);
  }
  return { pages: [...pages], forms: [...forms.values()] };
}

function formsIn(html: string, page: string): Form[] {
  return [...html.matchAll(/<form ([^>]*)>(.*?)<\/form>/gs)].map(([, tag = "", content = ""]) => ({
    path: resolve(attribute(tag, "action") ?? page, page),
    method: (attribute(tag, "method") ?? "get").toUpperCase(),
    fields: fieldsIn(content),
  }));
}

/** An action may be relative: `?` is the page without its query. */
function resolve(action: string, page: string): string {
  const { pathname, search } = new URL(action, new URL(page, "http://localhost"));
  return pathname + search;
}

function fieldsIn(html: string): Form["fields"] {
  const tags = [...html.matchAll(/<(?:input|select|textarea|button) ([^>]*)>/g)].map(([, tag = ""]) => tag);
  return tags.flatMap((tag): Form["fields"] => {
    const name = attribute(tag, "name");
    return name === undefined || name === "csrf_token" ? [] : [[name, attribute(tag, "value") ?? ""]];
  });
}

function attribute(tag: string, name: string): string | undefined {
  const value = new RegExp(`(?:^| )${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? undefined : decodeEntities(value);
}

function decodeEntities(text: string): string {
  const entities: Record<string, string> = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };
  return text.replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => entities[name] ?? "");
}
