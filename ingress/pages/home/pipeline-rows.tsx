import { workMs } from "../../../shared/builds/rows/work.ts";
import { msInWords } from "../../../shared/durations.ts";
import { type ParametersOf, pathTo, patterns } from "../../../shared/paths.ts";
import { firstLine } from "../builds/list.tsx";
import { halfTimeOf, shareOf } from "../builds/usual.ts";
import { StarButton } from "../pipelines/star.tsx";
import { titleOf } from "../resources/title.ts";
import { StateIcon, stateInWords } from "../states/state.tsx";
import { toneOf } from "../states/tones.ts";
import { LinkButton } from "../ui/form.tsx";
import { useNow } from "../ui/rendering.ts";
import { Time } from "../ui/times.tsx";
import type { HomePipeline } from "./pipelines.ts";

interface Pipelines {
  rows: HomePipeline[];
  hasMore: boolean;
  /** Of the filter. */
  name: string;
  org: string;
}

/** A row of one line for each pipeline, with a field that leaves out rows as one types. */
export function Pipelines({ rows, hasMore, name, org }: Pipelines) {
  return (
    <section aria-labelledby="pipelines" data-blocks="pipelines">
      <div class="heading" data-blocks="pipelines-heading">
        <h2 id="pipelines">Pipelines</h2>
        <search>
          <form action={pathTo(patterns.organizationPage, { org })} class="actions">
            <input
              type="search"
              name="name"
              value={name}
              aria-label="Filter pipelines by name"
              placeholder="Filter"
              maxLength={200}
              data-filters="pipeline-rows"
            />
            <button type="submit" class="secondary">
              Filter
            </button>
          </form>
        </search>
        <LinkButton kind="secondary" href={pathTo(patterns.newPipelinePage, { org })} text="New pipeline" />
      </div>
      {rows.length === 0 ? (
        <p class="empty">{name ? "No pipeline has this in its name." : "There is no pipeline yet."}</p>
      ) : (
        <ul class="rows pipelines" id="pipeline-rows" data-blocks="pipeline-rows">
          <li class="scale" aria-hidden="true">
            <span class="half">Median</span>
            <span class="share">Passed</span>
          </li>
          {rows.map((row) => (
            <Row key={row.pipeline.id} row={row} org={org} name={name} />
          ))}
        </ul>
      )}
      {(hasMore || name) && (
        <p>
          <a href={pathTo(patterns.pipelinesPage, { org })}>All pipelines</a>
        </p>
      )}
    </section>
  );
}

function Row({
  row: { pipeline, isStarred, bars, last },
  org,
  name,
}: { row: HomePipeline } & Pick<Pipelines, "org" | "name">) {
  const place = { org, slug: pipeline.slug };
  const half = halfTimeOf(bars);
  const { passed, ended } = shareOf(bars);
  return (
    <li data-part="" data-name={`${pipeline.name} ${pipeline.slug}`.toLowerCase()}>
      <StarButton pipeline={pipeline} org={org} isStarred={isStarred} from="home" filter={name} />
      <a class="name" href={pathTo(patterns.pipelinePage, place)}>
        {titleOf(pipeline)}
      </a>
      <Bars bars={bars} place={place} />
      {last ? (
        <>
          <StateIcon state={last.state} />
          <a
            class="message"
            href={pathTo(patterns.buildPage, { ...place, number: String(last.number) })}
            title={firstLine(last.message)}
          >
            <span class="hidden">
              {stateInWords(last.state)}, #{last.number}{" "}
            </span>
            {firstLine(last.message)}
          </a>
          <span class="by">{last.by}</span>
          <span class="at">
            <Time at={last.createdAt} />
          </span>
        </>
      ) : (
        <span class="message">No build yet</span>
      )}
      <span class="half" title="Half of the builds of the default branch that passed ran no longer">
        {half !== undefined && msInWords(half)}
      </span>
      <span class="share" title={`${passed} of ${ended} passed`}>
        {ended > 0 && `${Math.floor((100 * passed) / ended)} %`}
      </span>
    </li>
  );
}

/** Heights that the style sheet knows. */
const heights = 10;

/**
 * For the pointer: the page of the pipeline has the same links. The newest is at the right. They are text: 600
 * elements take twice the time (shared/decisions/27-a-trick-has-its-figures.md).
 */
function Bars({
  bars,
  place,
}: {
  bars: HomePipeline["bars"];
  place: ParametersOf<typeof patterns.pipelinePage>;
}) {
  const now = useNow();
  const times = bars.map((build) => workMs(build, now) ?? 0);
  const longest = Math.max(1, ...times);
  const builds = pathTo(patterns.buildPage, { ...place, number: "" });
  let html = "";
  for (const [index, { number, state }] of bars.entries()) {
    const tall = Math.max(1, Math.round((heights * (times[index] ?? 0)) / longest));
    html += `<a class="tone-${toneOf(state)} tall-${tall}" href="${builds}${number}" title="#${number} ${stateInWords(state)}" tabindex="-1"></a>`;
  }
  return <span class="bars" aria-hidden="true" dangerouslySetInnerHTML={{ __html: html }} />;
}
