import { defineHandler, type EventHandler, type H3Event, HTTPResponse } from "h3";
import type { ComponentChildren } from "preact";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { User } from "../../../shared/accounts/user-store.ts";
import { patterns } from "../../../shared/paths.ts";
import { Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { refuseForeignForm } from "../../auth/csrf.ts";
import { findVisitor, type Visitor } from "../../auth/session.ts";
import type { Bodies } from "../../http/body.ts";
import { mediaType } from "../../http/content-type.ts";
import { html, seeOther, setHeaders } from "../../http/respond.ts";
import { renderPage, type Section } from "./layout.tsx";
import { pageContextOf } from "./page-context.ts";

/** What a page shows inside the frame that all pages share. */
export interface PageContent {
  title: string;
  content: ComponentChildren;
  /** Default: 200. */
  status?: number;
  /** The organization that the page is about, and where in it. */
  within?: { organization: Organization; section: Section };
  /** Where the page hears that it has changed. */
  events?: string;
  /** What makes buttons that copy work, or keeps a form from being sent twice by a double click. */
  script?: "copy.js" | "once.js";
}

/** What a page knows of who asks for it. */
export interface PageRequest {
  event: H3Event;
  visitor: Visitor;
}

/** The same once somebody has signed in. */
export interface SignedInRequest extends PageRequest {
  user: User;
}

/** What a form is answered with: a page, or the path of the page to go on to. */
export type FormResult = PageContent | string;

const maxFormBytes = 64 * 1024;

/** A page for anybody. */
export function page(
  services: Services,
  show: (request: PageRequest) => PageContent | Promise<PageContent>,
): EventHandler {
  return defineHandler(async (event) => {
    const visitor = await loadVisitor(services, event);
    return render(event, visitor, await show({ event, visitor }));
  });
}

/** A page for people who have signed in; others are sent to do so, and come back. */
export function signedInPage(
  services: Services,
  show: (request: SignedInRequest) => PageContent | Promise<PageContent | HTTPResponse>,
): EventHandler {
  return defineHandler(async (event) => {
    const visitor = await loadVisitor(services, event);
    const { user } = visitor;
    if (!user) return seeOther(signInAndReturnTo(event.url.pathname + event.url.search));
    return render(event, visitor, await show({ event, visitor, user }));
  });
}

/** What a form of anybody does. */
export function action(
  services: Services,
  bodies: Bodies,
  run: (request: PageRequest, form: URLSearchParams) => Promise<FormResult>,
): EventHandler {
  return defineHandler(async (event) => {
    const visitor = await loadVisitor(services, event);
    const form = await readForm(services, bodies, { event, visitor });
    return respond(event, visitor, await run({ event, visitor }, form));
  });
}

/** What a form of people who have signed in does. */
export function signedInAction(
  services: Services,
  bodies: Bodies,
  run: (request: SignedInRequest, form: URLSearchParams) => Promise<FormResult>,
): EventHandler {
  return defineHandler(async (event) => {
    const visitor = await loadVisitor(services, event);
    const { user } = visitor;
    if (!user) return seeOther(signInAndReturnTo(event.url.pathname));
    const form = await readForm(services, bodies, { event, visitor });
    return respond(event, visitor, await run({ event, visitor, user }, form));
  });
}

/** The address of the sign-in page, from where one comes back to a path of ours. */
export function signInAndReturnTo(path: string): string {
  return `${patterns.signIn}?${new URLSearchParams({ to: path })}`;
}

/**
 * On every page, error pages too: nothing may be framed, cached or loaded from elsewhere. A page that has no script
 * may run none, and only one that keeps itself up to date may ask for anything.
 */
export function setPageHeaders(event: H3Event, { events, script }: Partial<PageContent> = {}): void {
  const allowed = `${events || script ? "script-src 'self'; " : ""}${events ? "connect-src 'self'; " : ""}`;
  setHeaders(event, {
    "Content-Security-Policy": `default-src 'none'; ${allowed}style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
  });
}

/** Whoever asks, remembered for the page that answers. */
async function loadVisitor(services: Services, event: H3Event): Promise<Visitor> {
  const visitor = await findVisitor(services, event);
  pageContextOf(event).visitor = visitor;
  return visitor;
}

/** Line breaks are single characters: browsers send two for each, which `maxlength` does not count. */
async function readForm(
  services: Services,
  bodies: Bodies,
  { event, visitor }: PageRequest,
): Promise<URLSearchParams> {
  if (mediaType(event.req.headers.get("content-type")) !== "application/x-www-form-urlencoded")
    throw new Refusal(415, "This address takes forms only.");
  using held = await bodies.read(event, maxFormBytes, () => new Refusal(413, "The form is too large."));
  const form = new URLSearchParams(held.bytes.toString("utf8"));
  refuseForeignForm(services.config, event, visitor, form.get("csrf_token") ?? "");
  // No browser sends it, and Postgres stores and compares no text that has it.
  if ([...form.values()].some((value) => value.includes("\0")))
    throw new Refusal(400, "The form holds a character that cannot be typed.");
  return new URLSearchParams([...form].map(([name, value]) => [name, value.replaceAll("\r\n", "\n")]));
}

function respond(event: H3Event, visitor: Visitor, answered: FormResult): HTTPResponse {
  return typeof answered === "string" ? seeOther(answered) : render(event, visitor, answered);
}

function render(event: H3Event, visitor: Visitor, answer: PageContent | HTTPResponse): HTTPResponse {
  if (answer instanceof HTTPResponse) return answer;
  const { status = 200, ...shown } = answer;
  setPageHeaders(event, shown);
  const notice = event.url.searchParams.get("notice");
  const role = pageContextOf(event).membership?.role;
  return html(status, renderPage({ ...shown, visitor, role, notice }));
}
