import { createConnection } from "../../../shared/connections/connections.ts";
import { connectionMembers, newConnection } from "../../../shared/connections/members.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { draftOf, parseDraft } from "../resources/draft.ts";
import { formPage } from "../resources/form-page.tsx";
import { withNotice } from "../ui/notices.ts";
import { addListCrumb, connectionPath } from "./address.ts";
import { ConnectionFields, TokenRights } from "./form.tsx";

/** GET and POST …/repository_connections/new {url} */
export const newConnectionPage = formPage({
  members: connectionMembers,
  title: "New repository connection",
  section: "settings",
  button: "Create connection",
  load: async (_services, request) => {
    addListCrumb(request);
    return { url: request.event.url.searchParams.get("url") ?? "" };
  },
  heading: () => "New repository connection",
  path: ({ organization }) => pathTo(patterns.newConnectionPage, { org: organization.slug }),
  back: ({ organization }) => pathTo(patterns.connectionsPage, { org: organization.slug }),
  draft: ({ url }) => draftOf(connectionMembers, { url }),
  fields: ({ draft, problems }) => (
    <>
      <ConnectionFields when="create" draft={draft} problems={problems} />
      <details class="fold">
        <summary>The smallest rights of a token</summary>
        <TokenRights />
      </details>
    </>
  ),
  save: async (services, request, { draft }) => {
    const input = parseDraft(newConnection, connectionMembers, draft);
    const created = await createConnection(services, request.actor, input);
    return withNotice(connectionPath(request, created), "repository_connection_created");
  },
});
