import type { ComponentChildren } from "preact";
import { hourOf } from "../../../shared/durations.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import { clusterPath } from "../address/cluster.ts";
import { queuePath } from "../address/queue.ts";
import { causeWords } from "../deliveries/causes.ts";
import { StateIcon } from "../states/state.tsx";
import { LinkButton, PostButton } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { useNow } from "../ui/rendering.ts";
import { BuildName, CodeList } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import type { Need } from "./needs.ts";

/** The others unfold. */
const maxShown = 5;
const maxNamedQueues = 10;

/** All that waits until somebody acts, in rows of one line with one button each. */
export function Needs({ needs, request }: { needs: Need[]; request: MemberRequest }) {
  if (needs.length === 0) return null;
  const rows = needs.map((need) => <Row key={keyOf(need)} need={need} request={request} />);
  return (
    <section aria-labelledby="needs" data-blocks="needs">
      <h2 id="needs">Needs somebody</h2>
      <ul class="needs" data-blocks="first-needs">
        {rows.slice(0, maxShown)}
      </ul>
      {rows.length > maxShown && (
        <details id="more-needs">
          <summary>All {rows.length}</summary>
          <ul class="needs">{rows.slice(maxShown)}</ul>
        </details>
      )}
    </section>
  );
}

function keyOf(need: Need): string {
  if (need.kind === "blocked") return need.placed.build.id;
  if (need.kind === "refuses") return need.counts[0]?.triggerId ?? "";
  if (need.kind === "no_agent") return need.kind;
  return `${need.kind} ${need.queue.id} ${need.kind === "no_agent_with_tags" ? need.tags.join() : ""}`;
}

interface Words {
  /** The state whose icon it has. */
  state: string;
  thing: ComponentChildren;
  reason: ComponentChildren;
  button: ComponentChildren;
}

function Row({ need, request }: { need: Need; request: MemberRequest }) {
  const { state, thing, reason, button } = inWords(need, request);
  return (
    <li data-part="">
      <StateIcon state={state} />
      <span class="thing">{thing}</span>
      <span class="reason">{reason}</span>
      <span class="quiet">
        {need.kind === "refuses" ? <RefusedAt counts={need.counts} /> : <Time at={need.since} />}
      </span>
      {button}
    </li>
  );
}

/** Refusals are counted by the hour. @param counts the latest hours first */
function RefusedAt({ counts: [latest] }: Pick<Need & { kind: "refuses" }, "counts">) {
  const isNow = latest && latest.hour >= hourOf(useNow());
  return <>{isNow ? "this hour" : "the hour before"}</>;
}

function inWords(need: Need, request: MemberRequest): Words {
  const link = (queue: Queue) => (
    <a key={queue.id} href={queuePath(request, queue)}>
      {queue.key}
    </a>
  );
  switch (need.kind) {
    case "refuses":
      return refusalInWords(need.counts, request);
    case "no_agent": {
      const [first, ...others] = need.queues;
      const named = need.queues.slice(0, maxNamedQueues);
      const list = named.map((queue, index) => [index > 0 && ", ", link(queue)]);
      return {
        state: "no_agent",
        thing: others.length === 0 && first ? link(first) : `${need.queues.length} queues`,
        reason: others.length === 0 ? "no agent" : <>have no agent: {list}</>,
        button: <StartAgentLink queues={need.queues} request={request} />,
      };
    }
    case "no_agent_with_tags":
      return {
        state: "no_agent",
        thing: link(need.queue),
        reason: (
          <>
            no agent with <CodeList names={need.tags} />
          </>
        ),
        button: <StartAgentLink queues={[need.queue]} request={request} />,
      };
    case "agents_paused":
      return {
        state: "paused",
        thing: link(need.queue),
        reason: "its agents are paused, or about to stop",
        button: <Look path={queuePath(request, need.queue)} at={need.queue.key} />,
      };
    case "paused":
      return {
        state: "paused",
        thing: link(need.queue),
        reason: `paused by ${need.by}${need.queue.dispatchPausedNote ? `: ${need.queue.dispatchPausedNote}` : ""}`,
        button: <Resume queue={need.queue} request={request} />,
      };
    case "blocked": {
      const { isForReader, steps, placed } = need;
      const { build, pipeline } = placed;
      const at = steps.length > 0 ? ` at ${steps.join(", ")}` : isForReader ? " for people" : "";
      const place = { org: request.organization.slug, slug: pipeline.slug, number: String(build.number) };
      const path = pathTo(patterns.buildPage, place);
      const name = `${pipeline.name} #${build.number}`;
      return {
        state: build.state,
        thing: (
          <a href={path}>
            <BuildName pipeline={pipeline.name} number={build.number} />
          </a>
        ),
        reason: `${isForReader ? "waits" : "waits for admins"}${at}`,
        button: isForReader ? (
          <LinkButton kind="secondary" href={`${path}#unblock`} text="Unblock" hidden={name} />
        ) : (
          <Look path={path} at={name} />
        ),
      };
    }
  }
}

function refusalInWords(
  counts: (Need & { kind: "refuses" })["counts"],
  { organization }: MemberRequest,
): Words {
  const [most = counts[0]] = counts.toSorted((one, other) => other.count - one.count);
  if (!most) return { state: "refused", thing: "", reason: "", button: null };
  const { trigger, pipeline, cause } = most;
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const pattern = trigger.isProvider ? patterns.providerPage : patterns.triggerPage;
  const path = pathTo(pattern, { org: organization.slug, slug: pipeline.slug, trigger: trigger.id });
  const name = `${trigger.label} of ${pipeline.name}`;
  const deliveries = total === 1 ? "a delivery" : `${total.toLocaleString("en")} deliveries`;
  return {
    state: "refused",
    thing: <a href={path}>{name}</a>,
    reason: `refused ${deliveries}: ${causeWords[cause][0].toLowerCase()}`,
    button: <Look path={`${path}#refused`} at={name} />,
  };
}

function StartAgentLink({ queues, request }: { queues: Queue[]; request: MemberRequest }) {
  const [first] = queues;
  if (!first) return null;
  const path =
    queues.length === 1
      ? `${queuePath(request, first)}#agents`
      : `${clusterPath(request, { id: first.clusterId })}#agents`;
  const hidden = `of ${queues.map(({ key }) => key).join(", ")}`;
  return <LinkButton kind="secondary" href={path} text="Start an agent" hidden={hidden} />;
}

function Resume({ queue, request }: { queue: Queue; request: MemberRequest }) {
  if (request.role !== "admin") return <Look path={queuePath(request, queue)} at={queue.key} />;
  return (
    <PostButton path={queuePath(request, queue, patterns.resumeQueuePage)} class="secondary">
      Resume<span class="hidden"> {queue.key}</span>
    </PostButton>
  );
}

function Look({ path, at }: { path: string; at: string }) {
  return <LinkButton kind="secondary" href={path} text="Look" hidden={`at ${at}`} />;
}
