import { isId, newId } from "../../../shared/ids.ts";
import type { Services } from "../../../shared/runtime/services.ts";

/** The id that a form carries for what it makes: however often it is sent, it makes one. */
export function readFormId({ clock }: Pick<Services, "clock">, form: URLSearchParams): string {
  const given = form.get("id") ?? "";
  return isId(given) ? given : newId(clock.now());
}
