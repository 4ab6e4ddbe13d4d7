import { isId, newId } from "../../../shared/ids.ts";
import type { Services } from "../../../shared/runtime/services.ts";

/** The id of the row that a form creates. Sent again, the form creates no second row. */
export function readFormId({ clock }: Pick<Services, "clock">, form: URLSearchParams): string {
  const given = form.get("id") ?? "";
  return isId(given) ? given : newId(clock.now());
}
