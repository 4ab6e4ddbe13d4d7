import { createConnection } from "../../../shared/connections/connections.ts";
import { connectionMembers, newConnection } from "../../../shared/connections/members.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { draftOf, parseDraft } from "../resources/draft.ts";
import { formPage } from "../resources/form-page.tsx";
import { withNotice } from "../ui/notices.ts";
import { addListCrumb, connectionPath } from "./address.ts";
import { ConnectionFields, TokenRights } from "./form.tsx";

/** GET and POST …/repository_connections/new?url&pipeline: a pipeline that needs it leads here, and is led back to. */
export const newConnectionPage = formPage({
  members: connectionMembers,
  title: "New repository connection",
  section: "settings",
  button: "Create connection",
  load: async (_services, request) => {
    addListCrumb(request);
    const { searchParams } = request.event.url;
    return { url: searchParams.get("url") ?? "", pipeline: searchParams.get("pipeline") ?? "" };
  },
  heading: () => "New repository connection",
  path: ({ organization }, { pipeline }) =>
    pathTo(patterns.newConnectionPage, { org: organization.slug }) +
    (pipeline && `?${new URLSearchParams({ pipeline })}`),
  back: ({ organization: { slug: org } }, { pipeline }) =>
    pipeline
      ? pathTo(patterns.providerPage, { org, slug: pipeline })
      : pathTo(patterns.connectionsPage, { org }),
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
  save: async (services, request, { draft, loaded: { pipeline } }) => {
    const input = parseDraft(newConnection, connectionMembers, draft);
    const created = await createConnection(services, request.actor, input);
    const path = pipeline
      ? pathTo(patterns.providerPage, { org: request.organization.slug, slug: pipeline })
      : connectionPath(request, created);
    return withNotice(path, "repository_connection_created");
  },
});
