import type { listAuditEvents } from "../../../shared/accounts/audit-store.ts";
import { Time } from "../ui/times.tsx";

type Entry = Awaited<ReturnType<typeof listAuditEvents>>[number];

/** @param pipelines names of pipelines, by the ids of their triggers */
export function AuditList({
  entries,
  now,
  pipelines = new Map(),
}: {
  entries: Entry[];
  now: Date;
  pipelines?: Map<string, string>;
}) {
  return (
    <section aria-labelledby="audit">
      <h2 id="audit">History</h2>
      {entries.length === 0 ? (
        <p class="quiet">Nothing yet.</p>
      ) : (
        <ul class="audit">
          {entries.map(({ event, actor }) => (
            <li key={event.id}>
              <span>
                {actor} {event.action} <Subject event={event} pipeline={pipelines.get(event.subjectId)} />
              </span>
              <span class="quiet">
                <Time at={event.createdAt} now={now} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Subject({ event, pipeline }: { event: Entry["event"]; pipeline: string | undefined }) {
  const { subjectType, subjectId, subject } = event;
  if (subjectType === "access_token" && subject === subjectId) return <>a token</>;
  return (
    <>
      the {subjectType.replace("_", " ")} <strong>{subject}</strong>
      {pipeline !== undefined && (
        <>
          {" "}
          of <strong>{pipeline}</strong>
        </>
      )}
    </>
  );
}
