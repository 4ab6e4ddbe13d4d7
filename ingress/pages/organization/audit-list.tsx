import type { listAuditEvents } from "../../../shared/accounts/audit-store.ts";
import { Time } from "../ui/times.tsx";
import type { Place } from "./places.ts";

type Entry = Awaited<ReturnType<typeof listAuditEvents>>[number];

/** @param places of subjects, by their ids */
export function AuditList({
  entries,
  now,
  places = new Map(),
}: {
  entries: Entry[];
  now: Date;
  places?: Map<string, Place>;
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
                {actor} {event.action} <Subject event={event} place={places.get(event.subjectId)} />
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

function Subject({ event, place }: { event: Entry["event"]; place: Place | undefined }) {
  const { subjectType, subjectId, subject } = event;
  if (subjectType === "access_token" && subject === subjectId) return <>a token</>;
  const name = <strong>{subject}</strong>;
  return (
    <>
      the {subjectType.replace("_", " ")} {place?.path ? <a href={place.path}>{name}</a> : name}
      {place?.owner !== undefined && (
        <>
          {" "}
          of <strong>{place.owner}</strong>
        </>
      )}
    </>
  );
}
