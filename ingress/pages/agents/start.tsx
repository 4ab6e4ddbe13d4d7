import type { Cluster } from "../../../shared/clusters/store.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import { wordForShell } from "../../../shared/shell.ts";
import { clusterPath } from "../address/cluster.ts";
import type { MemberRequest } from "../ui/member-page.ts";

/** The command that starts our agent. @param given.queue absent: that of the token, or the cluster's default queue */
export function agentCommand(given: { token?: string; queue?: string | undefined; tags?: string[] }): string {
  const { token = "TOKEN", queue, tags = [] } = given;
  return [
    `npm run agent -- start --token ${token}`,
    ...(queue === undefined ? [] : [`--queue ${wordForShell(queue)}`]),
    ...(tags.length === 0 ? [] : [`--tags ${wordForShell(tags.join(","))}`]),
  ].join(" ");
}

/** The form of a new registration token, which the address unfolds. @param queue chosen in the form */
export function newTokenPath(
  request: Pick<MemberRequest, "organization">,
  cluster: Pick<Cluster, "id">,
  queue?: Pick<Queue, "id">,
): string {
  const query = new URLSearchParams({ unfold: "new-token", ...(queue && { queue: queue.id }) });
  return `${clusterPath(request, cluster)}?${query}#new-token`;
}

/**
 * Says how to start agents, beside the words that there is none.
 * @param queues of the cluster. Empty: its default queue
 */
export function StartAgent({
  cluster,
  queues,
  tags = [],
  request,
}: {
  cluster: Pick<Cluster, "id">;
  queues: Pick<Queue, "id" | "key">[];
  tags?: string[];
  request: MemberRequest;
}) {
  const [queue, ...others] = queues;
  const path = newTokenPath(request, cluster, others.length === 0 ? queue : undefined);
  const commands =
    queues.length === 0 ? [agentCommand({})] : queues.map(({ key }) => agentCommand({ queue: key, tags }));
  return (
    <>
      <p>
        Start one with a{" "}
        {request.role === "admin" ? (
          <>
            <a href={path}>new registration token</a>.
          </>
        ) : (
          "registration token, which an admin of the organization makes."
        )}{" "}
        Run this in the folder of Signalbox, with the token in place of <code>TOKEN</code>:
      </p>
      <pre class="command">
        <code>{commands.join("\n")}</code>
      </pre>
    </>
  );
}
