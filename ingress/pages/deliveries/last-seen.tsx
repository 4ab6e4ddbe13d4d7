import { timeInWords } from "../charts/times.ts";

/** The cell of a table that says in which hour something was last seen. */
export function LastSeen({ hour }: { hour: Date }) {
  return (
    <td>
      in the hour of <time dateTime={hour.toISOString()}>{timeInWords(hour)}</time>
    </td>
  );
}
