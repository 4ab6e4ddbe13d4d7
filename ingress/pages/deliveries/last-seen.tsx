import { timeInWords } from "../charts/times.ts";

/** The cell of when something was seen last, of counts by the hour. */
export function LastSeen({ hour }: { hour: Date }) {
  return (
    <td>
      in the hour of <time dateTime={hour.toISOString()}>{timeInWords(hour)}</time>
    </td>
  );
}
