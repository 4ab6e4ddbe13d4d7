import type { H3Event, HTTPResponse } from "h3";
import type { Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { html } from "../../http/respond.ts";
import { renderPage } from "./layout.tsx";
import { setPageHeaders } from "./page.ts";
import { loadErrorPageContext, type PageContext } from "./page-context.ts";

const titles: Record<number, string> = {
  403: "This was not accepted",
  404: "Page not found",
  429: "Too many attempts",
  500: "Something went wrong",
  503: "Temporarily unavailable",
};

/** Sentences for people, by message. */
const texts: Record<string, string> = {
  "Not Found": "There is nothing at this address. Check it for typing errors.",
  "Method not allowed": "This address cannot be opened in this way.",
  "The address is malformed": "This address is not complete. Check it for typing errors.",
  "No organization found": "This organization does not exist, or you are not a member of it.",
  "No cluster queue found": "This queue does not exist, or was deleted.",
  "No pipeline trigger found": "This trigger does not exist, or was deleted.",
  "No payload found": "This build has no payload, or it is no longer kept.",
  "No authorized application found": "This app is not connected, or its access was revoked.",
  "No access token found": "This token does not exist, or was revoked.",
};

/** Answers a refused request with a page. */
export async function errorPage(
  services: Services,
  event: H3Event,
  { status, message }: Refusal,
): Promise<HTTPResponse> {
  const isForbiddenPage = status === 403 && event.req.method === "GET";
  const title = isForbiddenPage ? "No access" : (titles[status] ?? "This did not work");
  // With the database away, the lookup could wait for a time-out.
  const context: PageContext = status < 500 ? await loadErrorPageContext(services, event) : {};
  const { visitor, lastMembership, memberships = [], trail = [] } = context;
  const membership = context.membership ?? lastMembership;
  const page = renderPage({
    title,
    visitor,
    ...(membership && { within: membership, role: membership.role, memberships, trail }),
    ...(!context.membership && { owner: "Signalbox" }),
    content: (
      <div class="narrow">
        <h1>{title}</h1>
        <p>{inWords(message)}</p>
        <p class="actions">
          <a class="button secondary" href="/">
            Go to the start page
          </a>
        </p>
      </div>
    ),
  });
  setPageHeaders(event);
  return html(status, page);
}

function inWords(message: string): string {
  const missing = /^No (.+) found$/.exec(message)?.[1];
  return texts[message] ?? (missing ? `This ${missing} does not exist, or was deleted.` : message);
}
