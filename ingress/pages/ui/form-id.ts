import { isId, newId } from "../../../shared/ids.ts";
import type { Services } from "../../../shared/services/services.ts";

/** The id of the new row: sent again, the form creates no second one. */
export function readFormId({ clock }: Pick<Services, "clock">, form: URLSearchParams): string {
  const given = form.get("id") ?? "";
  return isId(given) ? given : newId(clock.now());
}
