import { isBackingOff } from "../../../shared/triggers/filter/back-off.ts";
import type { FilterMisses } from "../../../shared/triggers/filter/misses-store.ts";
import { useNow } from "../ui/rendering.ts";
import { Time } from "../ui/times.tsx";

/** Shown while deliveries wait for a filter that keeps missing its deadline. */
export function BackOff({ misses }: { misses: FilterMisses | undefined }) {
  const now = useNow();
  if (!isBackingOff(misses)) return null;
  return (
    <p class="warning">
      The filter missed its deadline {misses.count} times in a row. Deliveries wait; one of them tries it
      again {misses.retryAt > now ? <Time at={misses.retryAt} /> : "soon"}. Another filter ends the wait
      within a minute.
    </p>
  );
}
