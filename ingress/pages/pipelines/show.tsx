import { listAuditEvents } from "../../../shared/accounts/audit-store.ts";
import { listBuildTimes } from "../../../shared/builds/rows/build-store.ts";
import { type Cluster, findClusterById } from "../../../shared/clusters/store.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import { environmentOfPipeline } from "../../../shared/pipelines/environment.ts";
import { providerIn } from "../../../shared/pipelines/provider/provider.ts";
import { findWebhook } from "../../../shared/pipelines/provider/webhook-store.ts";
import { findStar } from "../../../shared/pipelines/stars/store.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import { findPipelineWarning } from "../../../shared/pipelines/warnings.ts";
import { excerpt } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { isLoopback } from "../../../shared/settings/urls.ts";
import { type ProviderId, providers } from "../../../shared/sources/providers.ts";
import { usedText, withDefaults } from "../../../shared/sources/settings.ts";
import { loadPipelineWithSteps, pipelinePath } from "../address/pipeline.ts";
import { loadBuildSearch, SearchedBuilds } from "../builds/search.tsx";
import { titleOf } from "../resources/title.ts";
import { AuditList } from "../ui/audit-list.tsx";
import { LinkButton, MoreMenu, PostButton } from "../ui/form.tsx";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import type { PageContent } from "../ui/page.ts";
import { CodeList, Fact, separator } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import { LastBuilds } from "./last-builds.tsx";
import { findLeftOut, LeftOutPush } from "./left-out.tsx";
import { addBuild, NewBuild, type RefusedBuild } from "./new-build.tsx";
import { BuildNext, loadNextBuild } from "./next-build.tsx";
import { settingsInWords } from "./settings-in-words.ts";
import { StarButton } from "./star.tsx";
import { Steps } from "./steps-in-words.tsx";

const maxBars = 50;
const maxHistory = 5;

/** GET /organizations/:org/pipelines/:slug */
export const pipelinePage = memberPage((services, request) => showPipeline(services, request));

/** POST …/builds */
export const addBuildToPipeline = addBuild(showPipeline);

/** GET …/builds: signing in after the session ended leads here. */
export const redirectToPipeline = memberPage((_, request) => pipelinePath(request));

async function showPipeline(
  services: Services,
  request: MemberRequest,
  refused?: RefusedBuild,
): Promise<PageContent> {
  const { organization, user } = request;
  const pipeline = await loadPipelineWithSteps(services, request);
  const organizationId = organization.id;
  const star = await findStar(services.db, {
    organizationId,
    userId: user.id,
    pipelineId: pipeline.id,
  });
  const found = await loadBuildSearch(services, request, pipeline);
  const lastBuilds = await listBuildTimes(services.db, pipeline.id, maxBars);
  const history = await listAuditEvents(
    services.db,
    { organizationId, subjects: { types: ["pipeline"], ids: [pipeline.id] } },
    maxHistory,
  );
  const cluster = await findClusterById(services.db, pipeline.clusterId);
  const variables = Object.keys(environmentOfPipeline(services.cipher, pipeline));
  const provider = await providerIn(services.db, pipeline);
  const webhook = await findWebhook(services.db, { pipelineId: pipeline.id });
  const leftOut =
    webhook && !found.isSearching
      ? await findLeftOut(services, organizationId, { webhook, builtAt: lastBuilds[0]?.createdAt })
      : undefined;
  const next = await loadNextBuild(services, request, pipeline);
  const topics = found.list.rows.map(({ id }) => `build:${id}` as const);
  const parameters = { org: organization.slug, slug: pipeline.slug };
  return {
    title: pipeline.name,
    status: refused ? 422 : 200,
    script: ["once.js", "copy.js"],
    section: "pipelines",
    topics: [`pipeline:${pipeline.id}`, ...(webhook ? [`trigger:${webhook.id}` as const] : []), ...topics],
    content: (
      <>
        {next && <BuildNext next={next} pipeline={pipeline} request={request} />}
        <div class="heading">
          <h1>{titleOf(pipeline)}</h1>
          <div class="actions">
            <StarButton pipeline={pipeline} org={organization.slug} isStarred={star !== undefined} />
            {pipeline.repository !== null && (
              <LinkButton
                kind="secondary"
                href={pathTo(patterns.providerPage, parameters)}
                text={provider === null ? "Connect the repository" : providers[provider].title}
              />
            )}
            <LinkButton kind="secondary" href={pathTo(patterns.triggersPage, parameters)} text="Triggers" />
            <LinkButton kind="secondary" href={pathTo(patterns.schedulesPage, parameters)} text="Schedules" />
            <LinkButton kind="secondary" href={pathTo(patterns.editPipelinePage, parameters)} text="Edit" />
            <MoreMenu kind="rare">
              <nav aria-label="More">
                <Archive pipeline={pipeline} path={(pattern) => pathTo(pattern, parameters)} />
                <a href={pathTo(patterns.deletePipelinePage, parameters)}>Delete</a>
              </nav>
            </MoreMenu>
          </div>
        </div>
        {pipeline.archivedAt && (
          <p class="notice neutral">
            Archived <Time at={pipeline.archivedAt} />. It makes no builds: those that are asked for are
            refused, and deliveries of its triggers are accepted and not run.
          </p>
        )}
        {pipeline.description !== null && <p class="note">{pipeline.description}</p>}
        <Facts
          pipeline={pipeline}
          variables={variables}
          cluster={cluster}
          org={organization.slug}
          provider={provider}
        />
        <h2>Builds</h2>
        {leftOut && <LeftOutPush leftOut={leftOut} request={request} />}
        {(!pipeline.archivedAt || refused) && (
          <NewBuild pipeline={pipeline} request={request} refused={refused} />
        )}
        {!found.isSearching && (
          <LastBuilds
            builds={lastBuilds}
            pathOf={({ number }) => pathTo(patterns.buildPage, { ...parameters, number: String(number) })}
          />
        )}
        <SearchedBuilds
          found={found}
          path={pipelinePath(request)}
          org={organization.slug}
          none={
            <>
              No build yet.{" "}
              {provider === null ? (
                <>
                  One is made for every webhook that a{" "}
                  <a href={pathTo(patterns.triggersPage, parameters)}>trigger of this pipeline</a> receives.
                </>
              ) : isOfDemo(services, pipeline) ? (
                <>
                  A push makes one: the commands for it are in <code>{services.config.demoFile}</code>, in the
                  folder of Signalbox.
                </>
              ) : (
                <>
                  A push makes one, once {providers[provider].title}{" "}
                  <a href={pathTo(patterns.providerPage, parameters)}>sends its webhooks here</a>.
                </>
              )}
            </>
          }
        />
        <AuditList
          entries={history}
          viewer={request}
          path={pathTo(patterns.pipelineHistoryPage, parameters)}
        />
      </>
    ),
  };
}

/** The git server of the demo, on this machine, sends its webhooks here already. */
function isOfDemo({ config }: Services, { repository }: Pick<Pipeline, "repository">): boolean {
  const host = URL.parse(repository ?? "")?.host;
  return config.demoFile !== undefined && host !== undefined && isLoopback(host);
}

function Archive({
  pipeline: { archivedAt },
  path,
}: {
  pipeline: Pipeline;
  path: (pattern: PatternWith<"org" | "slug">) => string;
}) {
  return (
    <PostButton
      path={path(archivedAt ? patterns.unarchivePipelinePage : patterns.archivePipelinePage)}
      class="plain"
    >
      {archivedAt ? "Unarchive" : "Archive"}
    </PostButton>
  );
}

function Facts({
  pipeline,
  variables,
  cluster,
  org,
  provider,
}: {
  pipeline: Pipeline;
  /** The names. */
  variables: string[];
  cluster: Cluster | undefined;
  org: string;
  provider: ProviderId | null;
}) {
  const { slug, tags, branchConfiguration, defaultBranch, repository, cloneMirrorUrl, steps } = pipeline;
  const { builds, timeouts } = settingsInWords(pipeline);
  const filter = provider && usedText(withDefaults(pipeline.providerSettings), "filter_condition");
  const edit = pathTo(patterns.editPipelinePage, { org, slug });
  const warning = findPipelineWarning(steps, pipeline.document);
  return (
    <dl class="facts panel">
      <Fact
        name="Runs in"
        value={
          cluster && (
            <a href={pathTo(patterns.clusterPage, { org, cluster: cluster.id })}>{titleOf(cluster)}</a>
          )
        }
      />
      <Fact name="Tags" value={tags?.join(", ")} />
      <Fact name="Default branch" value={defaultBranch} />
      <Fact
        name="Branches"
        value={
          (branchConfiguration || provider) && (
            <>
              {branchConfiguration ? <code>{branchConfiguration}</code> : "all"}
              {filter && ", if the filter is true"}
            </>
          )
        }
        class="wide"
      />
      <Fact
        name="Filter"
        value={
          provider && (
            <>
              {filter ? <code>{excerpt(filter)}</code> : "none"}
              {separator}
              <a href={`${pathTo(patterns.providerPage, { org, slug })}#built`}>What it builds</a>
            </>
          )
        }
        class="wide"
      />
      <dt>Repository</dt>
      <dd class="wide">
        {repository ? (
          <code>{repository}</code>
        ) : (
          <>
            None: jobs check nothing out. <a href={edit}>Name one</a> to build its pushes.
          </>
        )}
      </dd>
      <Fact name="Agents clone" value={cloneMirrorUrl && <code>{cloneMirrorUrl}</code>} class="wide" />
      <Fact name="New builds" value={builds.join("; ") || undefined} class="wide" />
      <Fact name="Jobs time out" value={timeouts.join(", and ") || undefined} class="wide" />
      <Fact name="Variables" value={variables.length > 0 && <CodeList names={variables} />} class="wide" />
      <dt>Steps</dt>
      <dd class="wide">
        {steps.length === 0 ? "None: its builds run nothing" : <Steps steps={steps} />}{" "}
        <a href={`${edit}#steps`}>Edit steps</a>
        {warning && <p class="warning">{warning}</p>}
      </dd>
    </dl>
  );
}
