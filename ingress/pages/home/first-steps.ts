import type { FirstSteps } from "../../../shared/builds/reading/first-steps-store.ts";
import type { ClusterName } from "../../../shared/clusters/store.ts";
import type { QueueWork } from "../../../shared/dispatch/figures-store.ts";
import { dayMs } from "../../../shared/durations.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { wordForShell } from "../../../shared/shell.ts";
import { type ProviderId, providers } from "../../../shared/sources/providers.ts";
import { clusterPath } from "../address/cluster.ts";
import { queuePath } from "../address/queue.ts";
import { agentCommand, newTokenPath } from "../agents/start.tsx";
import type { MemberRequest } from "../ui/member-page.ts";

/** Where an organization stands on its way to the first build that passes. */
export interface Progress {
  steps: FirstSteps;
  /** The first cluster, if there is one. */
  cluster: ClusterName | undefined;
  /** The first pipeline, if there is one. */
  pipeline: { slug: string; name: string; lastBuildNumber: number; provider: ProviderId | null } | undefined;
  /** The id of its newest trigger, if it has one. */
  triggerId: string | undefined;
}

export interface Step {
  name: string;
  isDone: boolean;
  text: string;
  /** Undefined: a step before it comes first. */
  path?: string | undefined;
  isForAdmins?: boolean;
  command?: string;
  /** Says what its words in capitals stand for, which only the reader knows. */
  replace?: string | undefined;
}

export interface ChecklistProps {
  progress: Progress;
  /** The first queue, if there is one. */
  queue: QueueWork | undefined;
  request: MemberRequest;
}

/** The beginning of the operator’s commands, which run in the folder of Signalbox. */
export const adminCommand = "npm run -s admin --";

/**
 * Says if members see the first steps: until a day after the first build that passed, as they may never want the
 * steps that are left, such as a device.
 */
export function areFirstStepsShown({ passedAt }: FirstSteps, now: Date): boolean {
  return passedAt === null || now.getTime() - passedAt.getTime() < dayMs;
}

/** Lists the steps to the first build that passes, in an order that works. */
export function listFirstSteps(props: ChecklistProps): Step[] {
  return [...agentSteps(props), ...buildSteps(props)];
}

/** From nothing to an agent that waits for jobs. */
function agentSteps({ progress, queue, request }: ChecklistProps): Step[] {
  const { steps } = progress;
  const org = request.organization.slug;
  const cluster = queue?.cluster ?? progress.cluster;
  return [
    {
      name: "cluster",
      isDone: cluster !== undefined,
      text: "Create a cluster",
      path: `${pathTo(patterns.clustersPage, { org })}#new-cluster`,
      isForAdmins: true,
      command: `${adminCommand} cluster create --org ${org} --name Primary`,
    },
    {
      name: "queue",
      isDone: queue !== undefined,
      text: "Create its first queue",
      path: cluster && clusterPath(request, cluster, patterns.newQueuePage),
      isForAdmins: true,
      command: `${adminCommand} queue create ${inCluster(org, cluster)} --key default --default`,
    },
    {
      name: "token",
      isDone: steps.token || steps.agent,
      text: "Make a registration token",
      path: cluster && newTokenPath(request, cluster),
      isForAdmins: true,
      command: `${adminCommand} agent-token create ${inCluster(org, cluster)}`,
    },
    {
      name: "agent",
      isDone: steps.agent,
      text: "Start an agent with it",
      path: queue && `${queuePath(request, queue.queue)}#agents`,
      command: agentCommand({ queue: queue?.queue.key ?? "default" }),
      replace: "Replace TOKEN by the registration token.",
    },
  ];
}

/** From a pipeline to its first build that passes. */
function buildSteps({ progress, queue, request }: ChecklistProps): Step[] {
  const { steps, pipeline } = progress;
  const org = request.organization.slug;
  const at = inCluster(org, queue?.cluster ?? progress.cluster);
  return [
    {
      name: "pipeline",
      isDone: steps.pipeline,
      text: "Create a pipeline",
      path: pathTo(patterns.newPipelinePage, { org }),
      command: `${adminCommand} pipeline create ${at} --slug hello --name Hello --command "echo Hello"`,
    },
    ...sourceSteps(progress, org),
    {
      name: "passed",
      isDone: steps.passedAt !== null,
      text: "See its build pass",
      path: pipeline && newestBuildPath(org, pipeline),
    },
    {
      name: "device",
      isDone: steps.device,
      text: "Connect a device",
      path: patterns.enterCode,
      command: "npm run login",
    },
  ];
}

/**
 * Lists the steps by which the pipeline gets builds: the webhook of its source host or, without one, a trigger. They name
 * the pipeline, as the steps of others may differ.
 */
function sourceSteps({ steps, pipeline, triggerId }: Progress, org: string): Step[] {
  const [source, delivery] = ["source", "delivery"];
  if (!pipeline)
    return [
      { name: source, isDone: false, text: "Connect its source host, or give it a trigger" },
      { name: delivery, isDone: false, text: "Send the first delivery" },
    ];
  const place = { org, slug: pipeline.slug };
  const at = `--org ${org} --pipeline ${pipeline.slug}`;
  if (pipeline.provider === null)
    return [
      {
        name: source,
        isDone: triggerId !== undefined,
        text: `Give ${pipeline.name} a trigger`,
        path: pathTo(patterns.newTriggerPage, place),
        command: `${adminCommand} trigger create ${at} --type webhook --label Push`,
      },
      {
        name: delivery,
        isDone: steps.delivery,
        text: "Send the first delivery",
        path: triggerId && pathTo(patterns.sendDeliveryPage, { ...place, trigger: triggerId }),
        command: `echo '{}' | ${adminCommand} trigger send ${triggerId ?? "TRIGGER"} --file -`,
        replace: triggerId ? undefined : "Replace TRIGGER by the id that the command before it prints.",
      },
    ];
  const host = providers[pipeline.provider].title;
  return [
    {
      name: source,
      isDone: steps.delivery,
      text: `Set up the webhook of ${pipeline.name} at ${host}`,
      path: pathTo(patterns.providerPage, place),
      command: `${adminCommand} pipeline webhook ${at}`,
      replace: `It prints the address and the secret for ${host}.`,
    },
    {
      name: delivery,
      isDone: pipeline.lastBuildNumber > 0,
      text: "Push a commit",
      path: pathTo(patterns.providerPage, place),
      command: 'git commit --allow-empty -m "Try Signalbox" && git push',
      replace: "Run it in a clone of the repository.",
    },
  ];
}

/** The page of the pipeline's newest build or, if it has none, of the pipeline. */
function newestBuildPath(org: string, { slug, lastBuildNumber }: NonNullable<Progress["pipeline"]>): string {
  if (lastBuildNumber === 0) return pathTo(patterns.pipelinePage, { org, slug });
  return pathTo(patterns.buildPage, { org, slug, number: String(lastBuildNumber) });
}

function inCluster(org: string, cluster: ClusterName | undefined): string {
  return `--org ${org} --cluster ${wordForShell(cluster?.name ?? "Primary")}`;
}
