import { defineHandler, type EventHandler, type H3Event, HTTPResponse } from "h3";
import type { ComponentChildren } from "preact";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { User } from "../../../shared/accounts/user-store.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/process/services.ts";
import { exactSize, Refusal } from "../../../shared/refusal.ts";
import { refuseForeignForm } from "../../auth/csrf.ts";
import { findVisitor, type Visitor } from "../../auth/session.ts";
import type { Bodies } from "../../http/body.ts";
import { clientIp } from "../../http/client-address.ts";
import { mediaType } from "../../http/content-type.ts";
import { loopTurn } from "../../http/loop-turn.ts";
import { wideNetworkOf } from "../../http/network.ts";
import { html, seeOther, setHeaders } from "../../http/respond.ts";
import { renderPage, type Script, type Section } from "./layout.tsx";
import { outageOf, pageContextOf, trailAbove } from "./page-context.ts";

export interface PageContent {
  title: string;
  content: ComponentChildren;
  /** Default: 200. */
  status?: number;
  within?: { organization: Organization; section: Section };
  /** Address of the events after which it reloads. */
  events?: string;
  /** `once.js` ignores the second submit of a double click. */
  script?: Script | Script[];
}

export interface PageRequest {
  event: H3Event;
  visitor: Visitor;
}

export interface SignedInRequest extends PageRequest {
  user: User;
}

/** A page, or the path to redirect to. */
export type FormResult = PageContent | string;

export interface FormOptions {
  maxFormBytes?: number;
}

const defaultMaxFormBytes = 64 * 1024;

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

/** A page for signed-in users. Others sign in first, and return. */
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

/** A form for anybody. */
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

/** A form for signed-in users. */
export function signedInAction(
  services: Services,
  bodies: Bodies,
  run: (request: SignedInRequest, form: URLSearchParams) => Promise<FormResult>,
  options: FormOptions = {},
): EventHandler {
  return defineHandler(async (event) => {
    const visitor = await loadVisitor(services, event);
    const { user } = visitor;
    if (!user) return seeOther(signInAndReturnTo(event.url.pathname));
    const form = await readForm(services, bodies, { event, visitor }, options);
    return respond(event, visitor, await run({ event, visitor, user }, form));
  });
}

/** The sign-in page, which leads back to `path`. */
export function signInAndReturnTo(path: string): string {
  return `${patterns.signIn}?${new URLSearchParams({ to: path })}`;
}

/**
 * No framing, no caching, nothing from other hosts. Only pages with a script run scripts; only those with events
 * connect.
 */
export function setPageHeaders(event: H3Event, { events, script }: Partial<PageContent> = {}): void {
  const scripts = `${events || script ? "script-src 'self'; " : ""}${events ? "connect-src 'self'; " : ""}`;
  setHeaders(event, {
    "Content-Security-Policy": `default-src 'none'; ${scripts}style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
  });
}

/** Wide networks take turns. Stores the visitor for an error page, too. */
async function loadVisitor(services: Services, event: H3Event): Promise<Visitor> {
  await loopTurn(wideNetworkOf(clientIp(event)));
  const visitor = await findVisitor(services, event);
  Object.assign(pageContextOf(event), { visitor, outage: visitor.user && outageOf(services) });
  return visitor;
}

/**
 * Turns CR LF into LF: `maxlength` counts a line break as one character.
 * @throws Refusal 400, 403, 413, 415
 */
async function readForm(
  services: Services,
  bodies: Bodies,
  { event, visitor }: PageRequest,
  { maxFormBytes = defaultMaxFormBytes }: FormOptions = {},
): Promise<URLSearchParams> {
  if (mediaType(event.req.headers.get("content-type")) !== "application/x-www-form-urlencoded")
    throw new Refusal(415, "This address takes forms only.");
  using body = await bodies.read(
    event,
    maxFormBytes,
    () => new Refusal(413, `The form is larger than ${exactSize(maxFormBytes)}.`),
  );
  const form = new URLSearchParams(body.bytes.toString("utf8"));
  refuseForeignForm(services.config, event, visitor, form.get("csrf_token") ?? "");
  // Postgres can neither store nor compare NUL.
  if ([...form.values()].some((value) => value.includes("\0")))
    throw new Refusal(400, "The form holds a character that cannot be typed.");
  return new URLSearchParams([...form].map(([name, value]) => [name, value.replaceAll("\r\n", "\n")]));
}

function respond(event: H3Event, visitor: Visitor, result: FormResult): HTTPResponse {
  return typeof result === "string" ? seeOther(result) : render(event, visitor, result);
}

function render(event: H3Event, visitor: Visitor, result: PageContent | HTTPResponse): HTTPResponse {
  if (result instanceof HTTPResponse) return result;
  const { status = 200, ...content } = result;
  setPageHeaders(event, content);
  const notice = event.url.searchParams.get("notice");
  const { membership, memberships = [], outage } = pageContextOf(event);
  const context = { role: membership?.role, memberships, outage, trail: trailAbove(event, content.title) };
  return html(status, renderPage({ ...content, ...context, visitor, notice }));
}
