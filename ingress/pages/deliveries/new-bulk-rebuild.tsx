import { isId, newId } from "../../../shared/ids.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import {
  askForBulkRebuild,
  countByStatus,
  countForRebuild,
} from "../../../shared/triggers/bulk-rebuilds/ask.ts";
import { type LoadedTrigger, loadTrigger, triggerPath } from "../address/trigger.ts";
import { addressOf, queryOf } from "../search/read.ts";
import { Field, FormError, LinkButton, PostForm } from "../ui/form.tsx";
import { readFormId } from "../ui/form-id.ts";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import type { PageContent } from "../ui/page.ts";
import { asSentence, type FormProblems, tryForm } from "../ui/problems.ts";
import { bulkRebuildPath, filterInWords, inWords } from "./bulk-rebuild.tsx";
import { chips, readDeliverySearch } from "./search.tsx";

// Building many deliveries again costs agents' time, and may deploy what a filter had refused. So a status must be
// chosen, and the number of deliveries typed.

/** GET …/rebuilds/new?<search of the list>: asks for a status, then for the number. */
export const newBulkRebuildPage = memberPage(async (services, request) => {
  const loaded = await loadTrigger(services, request);
  if (readDeliverySearch(request.event).filter.status === undefined)
    return chooseStatus(services, request, loaded);
  return confirm(services, request, loaded, {});
});

/** POST …/rebuilds/new?<search> {id, last, total} */
export const addBulkRebuild = memberAction(async (services, request, form) => {
  const loaded = await loadTrigger(services, request);
  const { filter: search } = readDeliverySearch(request.event);
  if (search.status === undefined)
    return chooseStatus(services, request, loaded, [{ field: "", message: "Choose a status" }]);
  const last = form.get("last") ?? "";
  const confirmed = { total: readNumber(form.get("total")), ...(isId(last) && { lastId: last }) };
  const wanted = { id: readFormId(services, form), search, confirmed };
  const ask = () => askForBulkRebuild(services, request.actor, loaded.trigger, wanted);
  const outcome = await tryForm(ask, { total: "total" });
  if ("done" in outcome) return bulkRebuildPath(request, outcome.done);
  return confirm(services, request, loaded, { problems: outcome.problems, lastId: confirmed.lastId });
});

/** Reads `1,980` too, as the page writes it. NaN: not a number. */
function readNumber(typed: string | null): number {
  const digits = (typed ?? "").replace(/[\s,]/g, "");
  return /^\d{1,9}$/.test(digits) ? Number(digits) : Number.NaN;
}

/** A refused form shows the page anew: no status is chosen for anybody. */
async function chooseStatus(
  services: Services,
  request: MemberRequest,
  { trigger }: LoadedTrigger,
  problems?: FormProblems,
): Promise<PageContent> {
  const { search, filter } = readDeliverySearch(request.event);
  const counted = new Map(
    (await countByStatus(services, trigger, filter)).map((each) => [each.status, each]),
  );
  const choices = Object.entries(chips).flatMap(([word, status]) => {
    const found = status !== "waiting" && counted.get(status);
    return found ? [{ word, ...found }] : [];
  });
  return narrowPage({
    title: "Build deliveries again",
    section: "pipelines",
    problems,
    content: (
      <>
        <FormError problems={problems} />
        <form action={triggerPath(request, trigger, patterns.newBulkRebuildPage)}>
          {[...queryOf({ ...search, status: "" })].map(([name, value]) => (
            <input key={name} type="hidden" name={name} value={value} />
          ))}
          <fieldset>
            <legend>Deliveries with the status</legend>
            {choices.map(({ word, status, total, isCut }) => (
              <label key={word} class="check">
                <input type="radio" name="status" value={word} required />
                <span>
                  {word}
                  <span class="quiet hint">
                    {isCut ? "more than can be counted" : inWords(total)}
                    {status === "not_run" && total > 0 && ", which the filter refused"}
                  </span>
                </span>
              </label>
            ))}
          </fieldset>
          <p class="actions">
            <button type="submit">Continue</button>
            <LinkButton
              kind="secondary"
              href={addressOf(triggerPath(request, trigger), search)}
              text="Cancel"
            />
          </p>
        </form>
      </>
    ),
  });
}

/** @param lastId the newest delivery that the member saw counted */
async function confirm(
  services: Services,
  request: MemberRequest,
  { trigger }: LoadedTrigger,
  { problems, lastId: seen }: { problems?: FormProblems; lastId?: string | undefined },
): Promise<PageContent> {
  const { search, filter } = readDeliverySearch(request.event);
  const back = addressOf(triggerPath(request, trigger), search);
  const counted = await tryForm(() => countForRebuild(services, trigger, filter, seen));
  if ("problems" in counted) return refused(back, problems ?? counted.problems);
  const { total, lastId, refusedByFilter } = counted.done;
  const number = total.toLocaleString("en");
  const title = `Build ${inWords(total)} again?`;
  return {
    title,
    section: "pipelines",
    status: problems ? 422 : 200,
    script: "once.js",
    content: (
      <div class="narrow">
        <h1>{title}</h1>
        <FormError problems={problems?.filter(({ field }) => field === "")} />
        <p>
          Chosen: {filterInWords(counted.done.filter)}.{" "}
          <strong>
            The filter refused {refusedByFilter === 0 ? "none" : refusedByFilter.toLocaleString("en")} of
            them.
          </strong>
        </p>
        <p>
          Each delivery gets one more build, with the present settings. The trigger's filter is not asked.
          Deliveries whose request is no longer kept are left out, and so are those that come from now on.
        </p>
        <PostForm
          path={addressOf(triggerPath(request, trigger, patterns.newBulkRebuildPage), search)}
          id={newId(services.clock.now())}
          button="Build again"
          back={back}
        >
          <input type="hidden" name="last" value={lastId} />
          <Field
            label={`Type ${number} to confirm`}
            name="total"
            inputMode="numeric"
            autocomplete="off"
            required
            problems={problems}
          />
        </PostForm>
      </div>
    ),
  };
}

function refused(back: string, problems: FormProblems): PageContent {
  return narrowPage({
    title: "These deliveries cannot be built again",
    section: "pipelines",
    status: 422,
    content: (
      <>
        <p>{asSentence(problems)}</p>
        <p class="actions">
          <LinkButton kind="secondary" href={back} text="Back to the deliveries" />
        </p>
      </>
    ),
  });
}
