import { defineHandler, type EventHandler, type H3Event, HTTPResponse } from "h3";
import type { ComponentChildren } from "preact";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { storageNotice } from "../../../shared/accounts/storage.ts";
import type { User } from "../../../shared/accounts/user-store.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Topic } from "../../../shared/redis/events.ts";
import { exactSize, Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { loopTurn } from "../../../shared/sharing/resources.ts";
import { refuseForeignForm } from "../../auth/csrf.ts";
import { findVisitor, ownerOfVisitor, type Visitor } from "../../auth/session.ts";
import type { Bodies } from "../../http/body.ts";
import { compressAnswer } from "../../http/compression.ts";
import { mediaType } from "../../http/content-type.ts";
import { html, seeOther, setHeaders } from "../../http/respond.ts";
import { markParts, partsHeader } from "../assets/parts.ts";
import type { Section } from "./head.tsx";
import { renderPage, type Script } from "./layout.tsx";
import { eventsPath } from "./live.ts";
import { outageOf, pageContextOf, trailAbove } from "./page-context.ts";

export interface PageContent {
  title: string;
  /** Of the page's subject, for its tab. */
  state?: string;
  content: ComponentChildren;
  /** Default: 200. */
  status?: number;
  /** Within the organization of the address. */
  section?: Section;
  /** The page reloads after events of these topics. An answer to a form does not: its address may have no page. */
  topics?: Topic[];
  /** The organizations that the topics belong to. Default: the organization of the address. */
  organizations?: Organization[];
  /** It shows pictures among the artifacts, which come from the address of the API. */
  hasPictures?: boolean;
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

/** A page, the path to redirect to, or a file. */
export type PageResult = PageContent | string | HTTPResponse;

export interface FormOptions {
  maxFormBytes?: number;
}

/** Makes the handler of a page, once, at startup. */
export type PageMaker = (services: Services) => EventHandler;
/** Makes the handler of a form, once, at startup. */
export type ActionMaker = (services: Services, bodies: Bodies) => EventHandler;

type Show<Request> = (services: Services, request: Request) => PageResult | Promise<PageResult>;
type Run<Request> = (
  services: Services,
  request: Request,
  form: URLSearchParams,
) => PageResult | Promise<PageResult>;

const defaultMaxFormBytes = 64 * 1024;

/** A page for anybody. */
export function page(show: Show<PageRequest>): PageMaker {
  return (services) =>
    defineHandler(async (event) => {
      const visitor = await loadVisitor(services, event);
      return respond(services, { event, visitor }, await show(services, { event, visitor }));
    });
}

/** A page for signed-in users. Others sign in first, and return. */
export function signedInPage(show: Show<SignedInRequest>): PageMaker {
  return page((services, request) => {
    const { user } = request.visitor;
    const { pathname, search } = request.event.url;
    return user ? show(services, { ...request, user }) : signInAndReturnTo(pathname + search);
  });
}

/** A form for anybody. */
export function action(run: Run<PageRequest>): ActionMaker {
  return (services, bodies) =>
    page(async (_, request) => run(services, request, await readForm(services, bodies, request)))(services);
}

/** A form for signed-in users. */
export function signedInAction(run: Run<SignedInRequest>, options?: FormOptions): ActionMaker {
  return (services, bodies) =>
    page(async (_, request) => {
      const { user } = request.visitor;
      if (!user) return signInAndReturnTo(request.event.url.pathname);
      const form = await readForm(services, bodies, request, options);
      return run(services, { ...request, user }, form);
    })(services);
}

/** The sign-in page, which leads back to `path`. */
export function signInAndReturnTo(path: string): string {
  return `${patterns.signIn}?${new URLSearchParams({ to: path })}`;
}

interface PageNeeds {
  events?: string;
  script?: Script | Script[];
  /** The field in the head finds as one types. */
  hasSearch?: boolean;
  /** An origin besides our own. */
  pictures?: string;
}

/**
 * No framing, no caching, nothing from other hosts. Only pages with a script run scripts; only those with events or the
 * search connect.
 */
export function setPageHeaders(
  event: H3Event,
  { events, script, hasSearch = false, pictures }: PageNeeds = {},
): void {
  const connects = events || hasSearch;
  const scripts = `${connects || script ? "script-src 'self'; " : ""}${connects ? "connect-src 'self'; " : ""}`;
  setHeaders(event, {
    "Content-Security-Policy": `default-src 'none'; ${scripts}style-src 'self'; img-src 'self'${pictures ? ` ${pictures}` : ""}; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
  });
}

/** Organizations take turns, and networks of unknown browsers. Stores the visitor for an error page, too. */
async function loadVisitor(services: Services, event: H3Event): Promise<Visitor> {
  await loopTurn(ownerOfVisitor(services, event));
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

async function respond(
  services: Services,
  { event, visitor }: PageRequest,
  result: PageResult,
): Promise<HTTPResponse> {
  if (result instanceof HTTPResponse) return result;
  if (typeof result === "string") return seeOther(result);
  const { status = 200, topics, organizations, section, hasPictures, ...content } = result;
  const { membership, lastMembership, memberships = [], outage } = pageContextOf(event);
  // An answer to a form may show a secret, and its address may have no page.
  const isAnswer = event.req.method === "POST";
  const reloads = topics && !isAnswer;
  const shown = {
    ...content,
    hasSearch: Boolean(membership && section && !isAnswer),
    ...(reloads && {
      events: eventsPath(services, visitor, {
        organizations: organizations ?? (membership ? [membership.organization] : []),
        topics,
      }),
    }),
  };
  setPageHeaders(event, {
    ...shown,
    ...(hasPictures && { pictures: new URL(services.config.baseUrl).origin }),
  });
  const known = reloads ? event.req.headers.get(partsHeader) : null;
  const page = renderPage({
    ...shown,
    isRefresh: known !== null,
    ...(membership
      ? { within: { organization: membership.organization, ...(section && { section }) } }
      : lastMembership && { within: lastMembership, owner: "Signalbox" }),
    storage: membership && storageNotice(services.config, membership.organization),
    role: (membership ?? lastMembership)?.role,
    memberships,
    outage,
    trail: trailAbove(event, content.title),
    visitor,
    now: services.clock.now(),
    notice: event.url.searchParams.get("notice"),
  });
  const answer = html(status, reloads ? markParts(page, known) : page);
  return membership && !isForAnotherSite(event) ? compressAnswer(event, answer) : answer;
}

/**
 * A site that opens our pages chooses their addresses, which pages repeat: the length of a compressed answer would tell
 * who watches the network when the text is one of the page (BREACH).
 */
function isForAnotherSite({ req }: H3Event): boolean {
  const site = req.headers.get("sec-fetch-site");
  return site === "cross-site" || site === "same-site";
}
