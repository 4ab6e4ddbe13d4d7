import { deleteConnection, updateConnection } from "../../../shared/connections/connections.ts";
import { connectionChange, connectionMembers } from "../../../shared/connections/members.ts";
import type { Connection } from "../../../shared/connections/store.ts";
import { apiUrlOf, type ConnectionType, titleOfConnection } from "../../../shared/connections/types.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import { listFailures } from "../../../shared/statuses/store.ts";
import { confirmPage } from "../resources/confirm-page.tsx";
import { type Draft, draftOf, fieldNamesOf, parseDraft, readDraft } from "../resources/draft.ts";
import { OnlyLocal } from "../ui/copy-field.tsx";
import { LinkButton, PostForm } from "../ui/form.tsx";
import { adminAction, adminPage, type MemberRequest } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import { Fact } from "../ui/tables.tsx";
import { connectionPath, loadConnection } from "./address.ts";
import { Failing } from "./failing.tsx";
import { ConnectionFields, TokenRights } from "./form.tsx";

/** Pipelines that are named. */
const maxFailures = 20;
const fieldNames = fieldNamesOf(connectionMembers);

/** GET …/repository_connections/:connection */
export const connectionPage = adminPage(async (services, request) => {
  return show(services, request, await loadConnection(services, request));
});

/** POST …/repository_connections/:connection, with the members that change, and `remove_token`. */
export const saveConnection = adminAction(async (services, request, form) => {
  const connection = await loadConnection(services, request);
  const draft = readDraft(connectionMembers, form);
  const outcome = await tryForm(async () => {
    const { token, ...change } = parseDraft(connectionChange, connectionMembers, draft);
    const newToken = token ?? (form.has("remove_token") ? null : undefined);
    return updateConnection(services, request.actor, connection, { ...change, token: newToken });
  }, fieldNames);
  if ("problems" in outcome)
    return show(services, request, connection, { draft, problems: outcome.problems });
  return withNotice(connectionPath(request, connection), "repository_connection_saved");
});

/** GET and POST …/repository_connections/:connection/delete */
export const deleteConnectionPage = confirmPage({
  section: "settings",
  load: loadConnection,
  title: (connection) => `Delete the connection ${titleOfConnection(connection)}?`,
  text: () =>
    "Its token is deleted. If the host is your own, pushes to its repositories make no builds any more.",
  path: (request, connection) => connectionPath(request, connection, patterns.deleteConnectionPage),
  back: (request, connection) => connectionPath(request, connection),
  run: async (services, request, connection) => {
    await deleteConnection(services, request.actor, connection);
    const { slug: org } = request.organization;
    return withNotice(pathTo(patterns.connectionsPage, { org }), "repository_connection_deleted");
  },
});

async function show(
  { outgoing, db, config }: Services,
  request: MemberRequest,
  connection: Connection,
  { draft, problems }: { draft?: Draft; problems?: FormProblems } = {},
): Promise<PageContent> {
  const { url, tokenSealed } = connection;
  const api = apiUrlOf(connection);
  const hasToken = tokenSealed !== null;
  const outside = hasToken ? await outgoing.findProblem(api) : undefined;
  const failures = await listFailures(db, connection, maxFailures);
  return narrowPage({
    title: titleOfConnection(connection),
    problems,
    section: "settings",
    content: (
      <>
        <dl class="facts">
          <Fact name="Address" value={<code>{url}</code>} />
          <Fact name="Its API" value={<code>{api}</code>} />
          <Fact name="Token" value={hasToken ? "stored, encrypted" : "none: the host is never called"} />
        </dl>
        <Failing connection={connection} failures={failures} request={request} />
        {outside && <p class="warning">Requests to the host fail: {outside.message}.</p>}
        <PostForm path={connectionPath(request, connection)} problems={problems} button="Save">
          <ConnectionFields
            when="change"
            draft={draft ?? draftOf(connectionMembers, connection)}
            problems={problems}
            hasToken={hasToken}
          />
        </PostForm>
        <h2>What it does</h2>
        <p>
          {hasToken && connection.publishStatuses
            ? "Commits that pipelines build get a status at the host: pending, then success or failure. Each pipeline says so on the page of its source host, and can switch it off."
            : "Commits get no statuses at the host."}
        </p>
        <OnlyLocal url={config.webhookUrl} />
        <h2>The smallest rights of its token</h2>
        <TokenRights types={[connection.type as ConnectionType]} />
        <p class="actions">
          <LinkButton
            kind="danger"
            href={connectionPath(request, connection, patterns.deleteConnectionPage)}
            text="Delete"
          />
        </p>
      </>
    ),
  });
}
