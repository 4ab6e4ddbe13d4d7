import type { Cluster } from "../../../shared/clusters/store.ts";
import { patterns } from "../../../shared/paths.ts";
import { newSecret, secretMembers } from "../../../shared/secrets/members.ts";
import { createSecret } from "../../../shared/secrets/secrets.ts";
import { type ListedSecret, listSecretsPage } from "../../../shared/secrets/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type NumberedList, readPageOf, readWithin } from "../../http/number-pager.ts";
import { clusterPath, loadCluster } from "../address/cluster.ts";
import { type Draft, fieldNamesOf, parseDraft, readDraft } from "../resources/draft.ts";
import { MemberFields } from "../resources/fields.tsx";
import { PostForm } from "../ui/form.tsx";
import { adminAction, type MemberRequest, memberPage } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { NumberPager } from "../ui/pager.tsx";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import { EntryList, separator } from "../ui/tables.tsx";
import { secretPath } from "./address.ts";
import { SecretTimes, secretForm, ValueField } from "./form.tsx";

const perPage = 30;

interface Refused {
  draft: Draft;
  problems: FormProblems;
}

/** GET …/secrets: the secrets of a cluster, without their values. */
export const secretsPage = memberPage((services, request) => showSecrets(services, request));

/** POST …/secrets, with the members of new secrets. */
export const addSecret = adminAction(async (services, request, form) => {
  const cluster = await loadCluster(services, request);
  const draft = readDraft(secretMembers, form);
  const outcome = await tryForm(
    async () => createSecret(services, request.actor, cluster, parseDraft(newSecret, secretMembers, draft)),
    fieldNamesOf(secretMembers),
  );
  if ("problems" in outcome) return showSecrets(services, request, { draft, problems: outcome.problems });
  return withNotice(clusterPath(request, cluster, patterns.secretsPage), "secret_created");
}, secretForm);

async function showSecrets(
  services: Services,
  request: MemberRequest,
  refused?: Refused,
): Promise<PageContent> {
  const cluster = await loadCluster(services, request);
  const list = await readWithin(readPageOf(request.event, perPage), (page) =>
    listSecretsPage(services.db, cluster.id, page),
  );
  return {
    title: "Secrets",
    status: refused ? 422 : 200,
    section: "clusters",
    script: "once.js",
    topics: [`cluster:${cluster.id}`],
    content: <SecretsView request={request} cluster={cluster} list={list} refused={refused} />,
  };
}

function SecretsView({
  request,
  cluster,
  list,
  refused,
}: {
  request: MemberRequest;
  cluster: Cluster;
  list: NumberedList & { rows: ListedSecret[] };
  refused: Refused | undefined;
}) {
  return (
    <>
      <h1>Secrets</h1>
      <p>
        Jobs of {cluster.name} may read these values, by <code>secrets</code> of their steps or by{" "}
        <code>secret get</code>. Whoever can change the steps of a pipeline can read what its jobs may read.
        Nobody can read the values here. Agents keep them out of logs; the server does not look for them
        there.
      </p>
      <EntryList
        rows={list.rows}
        empty={<>No secret yet.{request.role !== "admin" && " Admins of the organization can create one."}</>}
      >
        {(secret) => <Entry key={secret.id} secret={secret} request={request} />}
      </EntryList>
      <NumberPager list={list} path={clusterPath(request, cluster, patterns.secretsPage)} />
      {request.role === "admin" && <NewSecret request={request} cluster={cluster} refused={refused} />}
    </>
  );
}

function Entry({ secret, request }: { secret: ListedSecret; request: MemberRequest }) {
  const { key, description, policy } = secret;
  return (
    <li class="entry">
      <div>
        <h2>{request.role === "admin" ? <a href={secretPath(request, secret)}>{key}</a> : key}</h2>
        {description && <p>{description}</p>}
        <p class="quiet">
          {policy === null ? "For every job of the cluster" : "For jobs that its policy allows"}
          {separator}
          <SecretTimes secret={secret} />
        </p>
      </div>
    </li>
  );
}

function NewSecret({
  request,
  cluster,
  refused,
}: {
  request: MemberRequest;
  cluster: Cluster;
  refused: Refused | undefined;
}) {
  const problems = refused?.problems;
  return (
    <details id="new-secret" class="fold" open={refused !== undefined}>
      <summary>New secret</summary>
      <PostForm
        path={clusterPath(request, cluster, patterns.secretsPage)}
        problems={problems}
        button="Create secret"
      >
        <MemberFields
          members={secretMembers}
          when="create"
          draft={refused?.draft}
          problems={problems}
          own={{ value: <ValueField isLost={Boolean(refused?.draft.value)} problems={problems} /> }}
        />
      </PostForm>
    </details>
  );
}
