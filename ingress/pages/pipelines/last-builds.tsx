import { scaleBand, scaleLinear } from "d3-scale";
import type { BuildTimes } from "../../../shared/builds/rows/build-store.ts";
import { workMs } from "../../../shared/builds/rows/work.ts";
import { msInWords, secondMs } from "../../../shared/durations.ts";
import { halfTimeOf, shareOf } from "../builds/usual.ts";
import { State, stateInWords } from "../states/state.tsx";
import { toneOf } from "../states/tones.ts";
import { useNow } from "../ui/rendering.ts";
import { Table } from "../ui/tables.tsx";

const height = 100;
/** Room for the label of the longest. */
const top = 16;
/** Without a minimum, the bars of few builds would be broad. */
const minPlaces = 20;
interface Shown {
  builds: BuildTimes[];
  pathOf: (build: BuildTimes) => string;
}

/** Bars of the last builds: their color is the outcome, their height the duration. @param props.builds newest first */
export function LastBuilds(props: Shown) {
  const { builds, pathOf } = props;
  const now = useNow();
  if (builds.every(({ startedAt }) => !startedAt)) return null;
  return (
    <figure class="chart">
      <figcaption>
        {inWords(builds).map((words) => (
          <span key={words}>{words}</span>
        ))}
      </figcaption>
      {/* For the pointer: the table has the same links. */}
      <svg width="100%" height={top + height + 8} aria-hidden="true">
        <Bars {...props} />
      </svg>
      <details id="last-builds">
        <summary>As a table</summary>
        <Table caption="How long the last builds ran" columns={["Build", "State", "Ran"]}>
          {builds.map((build) => (
            <tr key={build.number}>
              <th scope="row">
                <a href={pathOf(build)}>#{build.number}</a>
              </th>
              <td>
                <State state={build.state} />
              </td>
              <td class="duration">{ranInWords(build, now)}</td>
            </tr>
          ))}
        </Table>
      </details>
    </figure>
  );
}

function Bars({ builds, pathOf }: Shown) {
  const now = useNow();
  const places = Array.from({ length: Math.max(builds.length, minPlaces) }, (_, at) => at);
  const x = scaleBand(places, [100, 0]).paddingInner(0.15);
  const longest = Math.max(secondMs, ...builds.map((build) => msOf(build, now)));
  const y = scaleLinear([0, longest], [height, 0]);
  const width = `${x.bandwidth()}%`;
  return (
    <>
      <line x2="100%" y1={top} y2={top} />
      <text y={top - 4}>{msInWords(longest)}</text>
      <line x2="100%" y1={top + height} y2={top + height} />
      {builds.map((build, at) => {
        const tone = toneOf(build.state);
        const place = { x: `${x(at)}%`, width };
        const bar = Math.max(2, height - y(msOf(build, now)));
        return (
          <a key={build.number} href={pathOf(build)} tabIndex={-1}>
            <title>{`#${build.number} ${stateInWords(build.state)} · ${ranInWords(build, now)}`}</title>
            <rect class="touch" {...place} height={top + height + 8} />
            <rect class={`tone-${tone}`} {...place} y={top + height - bar} height={bar} />
            {/* Failures can be seen without color. */}
            {tone === "failed" && <rect class="tone-failed" {...place} y={top + height + 3} height="4" />}
          </a>
        );
      })}
    </>
  );
}

/** `90 % passed`, `median time 3 min 5 s`. */
function inWords(builds: BuildTimes[]): string[] {
  const { passed, ended } = shareOf(builds);
  const median = halfTimeOf(builds);
  return [
    builds.length === 1 ? "The only build" : `The last ${builds.length} builds`,
    ...(ended > 0
      ? [`${Math.floor((100 * passed) / ended)} % passed (${passed} of ${ended} that ended)`]
      : []),
    ...(median === undefined ? [] : [`median time ${msInWords(median)}`]),
  ];
}

function ranInWords(build: BuildTimes, now: Date): string {
  const ms = workMs(build, now);
  if (ms === undefined) return build.finishedAt ? "never ran" : "waits";
  return msInWords(ms);
}

function msOf(build: BuildTimes, now: Date): number {
  return workMs(build, now) ?? 0;
}
