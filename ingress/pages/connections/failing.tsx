import type { Connection } from "../../../shared/connections/store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { listFailures } from "../../../shared/statuses/store.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { Age, Time } from "../ui/times.tsx";

/** Says that the host refuses the connection, for which pipelines, and what helps. */
export function Failing({
  connection: { failingSince },
  failures,
  request,
}: {
  connection: Pick<Connection, "failingSince">;
  failures: Awaited<ReturnType<typeof listFailures>>;
  request: MemberRequest;
}) {
  if (!failingSince && failures.length === 0) return null;
  return (
    <div class="warning">
      {failingSince && (
        <p>
          The host has refused statuses for <Age from={failingSince} />. Give the token the rights below, or
          save another token: statuses that wait are then sent at once. Until then one is tried each hour.
        </p>
      )}
      {failures.length > 0 && (
        <ul>
          {failures.map(({ pipeline: { slug, name }, problem, dueAt }) => (
            <li key={slug}>
              <a href={pathTo(patterns.providerPage, { org: request.organization.slug, slug })}>{name}</a>:{" "}
              {problem}. The next try is <Time at={dueAt} />.
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
