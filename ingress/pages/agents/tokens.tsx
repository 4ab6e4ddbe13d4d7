import { agentTokenMembers, newAgentToken } from "../../../shared/agents/members.ts";
import type { AgentToken } from "../../../shared/agents/token-store.ts";
import { createAgentToken, requireAgentToken, revokeAgentToken } from "../../../shared/agents/tokens.ts";
import { findFirstSteps } from "../../../shared/builds/reading/first-steps-store.ts";
import { dayMs } from "../../../shared/durations.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { listQueueKeys, type Queue, type QueueKey } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { NumberedList } from "../../http/number-pager.ts";
import { clusterPath, loadCluster } from "../address/cluster.ts";
import { confirmPage } from "../resources/confirm-page.tsx";
import { type Draft, fieldNamesOf, parseDraft, readDraft } from "../resources/draft.ts";
import { MemberFields } from "../resources/fields.tsx";
import { CopyField } from "../ui/copy-field.tsx";
import { LinkButton, PostForm, Select } from "../ui/form.tsx";
import { adminAction, type MemberRequest, memberPage } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { NumberPager } from "../ui/pager.tsx";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import { useNow } from "../ui/rendering.ts";
import { EntryList, separator } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import { agentCommand } from "./start.tsx";

const lifetimes = [
  ["", "never"],
  ["1", "after a day"],
  ["30", "after 30 days"],
  ["90", "after 90 days"],
  ["365", "after a year"],
] as const;

export interface RefusedToken {
  draft: Draft;
  days: string;
  problems: FormProblems;
}

/** POST …/tokens. Only this answer shows the token. It leads on to the first steps until a build has passed. */
export function addAgentToken(
  showAgain: (services: Services, request: MemberRequest, refused: RefusedToken) => Promise<PageContent>,
) {
  return adminAction(async (services, request, form) => {
    const cluster = await loadCluster(services, request);
    const draft = readDraft(agentTokenMembers, form);
    const days = lifetimes.find(([known]) => known === form.get("days"))?.[0] ?? "";
    const outcome = await tryForm(async () => {
      const { allowedIpAddresses: _, ...input } = parseDraft(newAgentToken, agentTokenMembers, draft);
      const lastsMs = Number(days) * dayMs;
      const expiresAt = days === "" ? null : new Date(services.clock.now().getTime() + lastsMs);
      return createAgentToken(services, request.actor, cluster, { ...input, expiresAt });
    }, fieldNamesOf(agentTokenMembers));
    if ("problems" in outcome)
      return showAgain(services, request, { draft, days, problems: outcome.problems });
    const needsQueue = cluster.defaultQueueId === null && !draft.queueId;
    const [first] = needsQueue ? await listQueueKeys(services.db, cluster.id, 1) : [];
    const { token } = outcome.done;
    const org = request.organization.slug;
    const steps = await findFirstSteps(services.db, { organizationId: request.organization.id });
    const hasNext = steps?.passedAt === null;
    const next = hasNext
      ? `${pathTo(patterns.organizationPage, { org })}#first-steps`
      : clusterPath(request, cluster);
    return created(next, draft.description, { token, queue: first?.key });
  });
}

/** GET and POST …/tokens/:token/revoke */
export const revokeAgentTokenPage = confirmPage({
  section: "clusters",
  load: async (services, request) => {
    const cluster = await loadCluster(services, request);
    return requireAgentToken(services, cluster, request.parameter("token"));
  },
  title: () => "Revoke this token?",
  text: (token) =>
    `“${nameOf(token)}” registers no more agents from now on. Those that it has registered go on.`,
  button: "Revoke",
  path: ({ organization }, { clusterId, id }) =>
    pathTo(patterns.revokeAgentTokenPage, { org: organization.slug, cluster: clusterId, token: id }),
  back: (request, { clusterId }) => clusterPath(request, { id: clusterId }),
  run: async (services, request, token) => {
    await revokeAgentToken(services, request.actor, token);
    return withNotice(clusterPath(request, { id: token.clusterId }), "agent_token_revoked");
  },
});

/** GET …/tokens: signing in after the session ended leads here. */
export const redirectToCluster = memberPage(async (services, request) => {
  return clusterPath(request, await loadCluster(services, request));
});

/** The tokens of a cluster, with a form for admins that creates one. */
export function AgentTokens({
  list,
  queues,
  choices,
  path,
  prefix,
  request,
  refused,
}: {
  /** A page of them. */
  list: NumberedList & { rows: AgentToken[] };
  /** At least the queues of the tokens. */
  queues: ReadonlyMap<string, Queue>;
  /** The queues that a new token may be bound to. */
  choices: QueueKey[];
  /** The page of the cluster. */
  path: string;
  /** The prefix of the list's parameters. */
  prefix: string;
  request: MemberRequest;
  refused: RefusedToken | undefined;
}) {
  return (
    <section aria-labelledby="tokens">
      <h2 id="tokens">Registration tokens</h2>
      <EntryList rows={list.rows} empty="No token yet. An agent needs one to register in this cluster.">
        {(token) => (
          <Entry key={token.id} token={token} queue={queues.get(token.queueId ?? "")} request={request} />
        )}
      </EntryList>
      <NumberPager
        list={list}
        path={path}
        prefix={prefix}
        label="Pages of registration tokens"
        section="tokens"
      />
      {request.role === "admin" && <NewToken request={request} queues={choices} refused={refused} />}
    </section>
  );
}

function Entry({
  token,
  queue,
  request,
}: {
  token: AgentToken;
  queue: Queue | undefined;
  request: MemberRequest;
}) {
  const now = useNow();
  const parameters = { org: request.organization.slug, cluster: token.clusterId, token: token.id };
  const queueKey = queue?.deletedAt === null ? queue.key : undefined;
  return (
    <li class="entry">
      <div>
        <h3>{nameOf(token)}</h3>
        <p class="quiet">
          {token.queueId ? `Only for the queue ${queueKey ?? "that was deleted"}` : "For every queue"}
          {separator}
          Created <Time at={token.createdAt} />
          {separator}
          Last used: {token.lastUsedAt ? <Time at={token.lastUsedAt} /> : "never"}
          {separator}
          {token.expiresAt ? (
            <>
              {token.expiresAt > now ? "Expires" : "Expired"} <Time at={token.expiresAt} />
            </>
          ) : (
            "No expiry"
          )}
        </p>
      </div>
      {request.role === "admin" && (
        <p class="actions">
          <LinkButton
            kind="danger"
            href={pathTo(patterns.revokeAgentTokenPage, parameters)}
            text="Revoke"
            hidden={nameOf(token)}
          />
        </p>
      )}
    </li>
  );
}

function NewToken({
  request,
  queues,
  refused,
}: {
  request: MemberRequest;
  queues: QueueKey[];
  refused: RefusedToken | undefined;
}) {
  const { organization, parameter, event } = request;
  const { searchParams } = event.url;
  const isOpen = refused !== undefined || searchParams.get("unfold") === "new-token";
  const path = pathTo(patterns.agentTokensPage, { org: organization.slug, cluster: parameter("cluster") });
  return (
    <details id="new-token" class="fold" open={isOpen}>
      <summary>New token</summary>
      <PostForm path={path} problems={refused?.problems} button="Create token">
        <MemberFields
          members={agentTokenMembers}
          when="create"
          draft={refused?.draft}
          problems={refused?.problems}
          own={{
            queueId: (
              <Select
                label={agentTokenMembers.queueId.field.label}
                name="queue"
                value={refused?.draft.queueId ?? searchParams.get("queue") ?? ""}
                options={[["", "every queue"], ...queues.map(({ id, key }) => [id, key] as const)]}
              />
            ),
          }}
        />
        <Select label="Expires" name="days" value={refused?.days ?? ""} options={lifetimes} />
      </PostForm>
    </details>
  );
}

/**
 * @param next the page to go on with
 * @param made.queue the queue that the agent has to name, in a cluster without a default queue
 */
function created(
  next: string,
  description: string | undefined,
  { token, queue }: { token: string; queue: string | undefined },
): PageContent {
  return {
    title: "Token created",
    script: "copy.js",
    section: "clusters",
    content: (
      <>
        <h1>Token created</h1>
        <p>
          This is “{description || unnamed}”. <strong>Copy it now: it is not shown again.</strong> Whoever
          knows it can run agents that get the jobs of this cluster.
        </p>
        <CopyField id="token" label="Token" rows={2} value={token} />
        <CopyField id="command" label="Command" rows={2} value={agentCommand({ token, queue })} wrap="off" />
        <p class="actions">
          <LinkButton href={next} text="I have copied it" />
        </p>
      </>
    ),
  };
}

const unnamed = "Token without a description";

function nameOf({ description }: AgentToken): string {
  return description || unnamed;
}
