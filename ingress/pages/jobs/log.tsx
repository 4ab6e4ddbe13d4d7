import { patterns } from "../../../shared/paths.ts";
import { jobPath } from "../address/build.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { CursorPager } from "../ui/pager.tsx";
import { Lines } from "./lines.tsx";
import type { LoadedJob } from "./load.ts";
import { Ticks, Tools } from "./tools.tsx";
import { durationsOf, groupBefore, type LogView } from "./view.ts";

interface LogProps {
  loaded: LoadedJob;
  view: LogView;
  request: MemberRequest;
}

/** The lines of a log, with tools and links to the rest of it. */
export function Log({ loaded: { readable, job, attempt }, view, request }: LogProps) {
  const { log, isOpen } = readable;
  const { lines, start, end, isLast } = view.page;
  const path = jobPath(request, job.id);
  const { times } = view;
  const kept = { ...(view.found && { find: view.found.needle }), ...(times && { times }) };
  const address = (place: Record<string, string>) =>
    `${path}?${new URLSearchParams({ ...place, attempt: String(attempt), ...kept })}`;
  const earlier = start > 0 ? address({ before: String(start) }) : undefined;
  const later = isLast ? undefined : address({ from: String(end) });
  const durations = durationsOf(view.outline, isOpen);
  const opened = view.named?.first;
  return (
    <section
      id="log"
      class="log"
      aria-label="Log"
      data-attempt={attempt}
      data-next={address({ from: String(end) })}
      data-follows={isLast ? "" : undefined}
      data-opens-at={opened}
    >
      {!log.evictedAt && (
        <Tools
          view={view}
          size={log.size}
          isOpen={isOpen}
          durations={durations}
          address={address}
          place={placeOf(request)}
        />
      )}
      <div class="log-body">
        <div class="log-lines">
          <CursorPager
            label="Earlier lines"
            links={{ Beginning: earlier && address({ from: "0" }), Earlier: earlier }}
          />
          <Lines
            lines={lines}
            isLast={isLast}
            before={groupBefore(view)}
            attempt={attempt}
            named={view.named}
            kept={kept}
            needle={view.found?.needle ?? ""}
            startedAt={view.outline.firstTime}
            isByArrival={view.outline.isByArrival}
            durations={durations}
          />
          {log.evictedAt ? (
            <p class="empty">This log is no longer kept.</p>
          ) : (
            lines.length === 0 &&
            start === 0 && <p class="empty">{isOpen ? "No output yet." : "No output."}</p>
          )}
          <CursorPager label="Later lines" links={{ Later: later, End: later && address({ end: "1" }) }} />
        </div>
        <Ticks view={view} size={log.size} />
      </div>
    </section>
  );
}

/** The parameters that choose lines: to show their times keeps them. */
function placeOf({ event }: MemberRequest): [string, string][] {
  return [...event.url.searchParams].filter(([name]) => ["line", "from", "before", "end"].includes(name));
}

/** The address of the log as the job wrote it. */
export function rawLogPath(request: MemberRequest, { job, attempt }: LoadedJob): string {
  return `${jobPath(request, job.id, patterns.jobLogPage)}?attempt=${attempt}`;
}
