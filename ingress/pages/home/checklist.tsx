import type { ComponentChildren } from "preact";
import type { FirstSteps } from "../../../shared/builds/reading/first-steps-store.ts";
import type { QueueWork } from "../../../shared/dispatch/figures-store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Config } from "../../../shared/settings/config.ts";
import { quoteForShell } from "../../../shared/shell.ts";
import { StateIcon } from "../states/state.tsx";

interface Given {
  steps: FirstSteps;
  org: string;
  /** The first pipeline, if there is one. */
  slug: string | undefined;
  /** The id of its newest trigger, if it has one. */
  triggerId: string | undefined;
  /** The first queue, if there is one. */
  first: QueueWork | undefined;
  config: Pick<Config, "baseUrl">;
}

interface Step {
  isDone: boolean;
  text: ComponentChildren;
  command: string;
  /** Says what its words in capitals stand for, which only the reader knows. */
  replace?: ComponentChildren;
}

/** The way to the first build that passes. A step that is done has a tick, and no command. */
export function Checklist(given: Given) {
  const steps = stepsOf(given);
  const done = steps.filter(({ isDone }) => isDone).length;
  return (
    <section aria-labelledby="first-steps" data-blocks="first-steps">
      <h2 id="first-steps">
        First steps: {done} of {steps.length} done
      </h2>
      <ol class="rows checklist" data-blocks="checklist">
        {steps.map(({ isDone, text, command, replace }) => (
          <li data-part="" key={command}>
            <StateIcon state={isDone ? "passed" : "waiting"} />
            <span class="name">
              <span class="hidden">{isDone ? "Done: " : "To do: "}</span>
              {text}
            </span>
            {!isDone && (
              <>
                <span class="how">
                  <code>{command}</code> {replace && <span class="quiet">{replace}</span>}
                </span>
                <span class="copy">
                  <button
                    type="button"
                    class="plain"
                    data-text={command}
                    aria-label={`Copy ${command}`}
                    hidden
                  >
                    Copy
                  </button>
                  <span class="quiet" role="status" />
                </span>
              </>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function stepsOf({ steps, org, slug = "web", triggerId, first, config }: Given): Step[] {
  const admin = "npm run -s admin --";
  const [queue, cluster] = [first?.queue.key ?? "default", quoteForShell(first?.cluster.name ?? "Primary")];
  const place = { org, slug };
  const hasPipeline = steps.pipeline;
  const link = (path: string, text: string, isLinked = true) => (isLinked ? <a href={path}>{text}</a> : text);
  const tokens = first && `${pathTo(patterns.clusterPage, { org, cluster: first.cluster.id })}#tokens`;
  const builds = `${config.baseUrl}/v2/organizations/${org}/pipelines/${slug}/builds`;
  return [
    {
      isDone: steps.agent,
      text: link(pathTo(patterns.clustersPage, { org }), "Connect an agent"),
      command: `npm run agent -- start --token TOKEN --queue ${queue}`,
      replace: (
        <>
          Replace TOKEN by a{" "}
          {tokens ? <a href={tokens}>registration token</a> : "registration token of a cluster"}.
        </>
      ),
    },
    {
      isDone: steps.pipeline,
      text: link(pathTo(patterns.newPipelinePage, { org }), "Make a pipeline"),
      command: `${admin} pipeline create --org ${org} --cluster ${cluster} --slug web --name Web --command "make test"`,
    },
    {
      isDone: steps.trigger,
      text: link(pathTo(patterns.newTriggerPage, place), "Give it a trigger", hasPipeline),
      command: `${admin} trigger create --org ${org} --pipeline ${slug} --label Push`,
    },
    {
      isDone: steps.delivery,
      text: link(pathTo(patterns.triggersPage, place), "Send the first delivery", hasPipeline),
      command: `echo '{}' | ${admin} trigger send ${triggerId ?? "TRIGGER"} --file -`,
      replace: triggerId === undefined && "Replace TRIGGER by the id that the command before it prints.",
    },
    {
      isDone: steps.passed,
      text: link(pathTo(patterns.pipelinePage, place), "See a build pass", hasPipeline),
      command: `curl -X POST ${builds} -H "Authorization: Bearer TOKEN" -d '{"commit":"HEAD","branch":"main"}'`,
      replace: (
        <>
          Replace TOKEN by an <a href={patterns.accessTokens}>API access token</a> with the scope{" "}
          <code>write_builds</code>.
        </>
      ),
    },
    {
      isDone: steps.device,
      text: link(patterns.enterCode, "Connect a device"),
      command: "npm run login",
    },
  ];
}
