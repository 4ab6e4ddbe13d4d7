import { requireOrganization } from "../../../../shared/accounts/organizations.ts";
import { requirePipeline } from "../../../../shared/pipelines/pipelines.ts";
import { newSchedule } from "../../../../shared/schedules/members.ts";
import { createSchedule } from "../../../../shared/schedules/schedules.ts";
import { press } from "../../../helpers/browser.ts";
import type { Pages } from "../../../helpers/pages.ts";
import type { Look } from "./every-page.ts";

/** The path of a schedule. */
interface Exhibits {
  schedule: string;
}

const list = "/organizations/globex/pipelines/site/schedules";

export const scheduleLooks: Look<Exhibits>[] = [
  { name: "schedules", as: "ada", visit: (page) => page.goto(list) },
  {
    name: "schedules, none yet",
    as: "ada",
    visit: (page) => page.goto("/organizations/globex/pipelines/quiet/schedules"),
  },
  {
    name: "a new schedule, refused",
    as: "ada",
    visit: async (page) => {
      await page.goto(`${list}/new`);
      await page.getByLabel("Cronline").fill("* * * * *");
      await press(page, "Create schedule");
    },
  },
  { name: "a schedule", as: "ada", visit: (page, { schedule }) => page.goto(schedule) },
  { name: "editing a schedule", as: "ada", visit: (page, { schedule }) => page.goto(`${schedule}/edit`) },
];

/** Makes schedules of a pipeline of Globex. */
export async function exhibitSchedules({ services, ada }: Pages): Promise<string> {
  const organization = await requireOrganization(services.db, "globex");
  const pipeline = await requirePipeline(services.db, organization.id, "site");
  const make = (given: object) =>
    createSchedule(services, { organization, userId: ada.id }, pipeline, newSchedule.parse(given));
  await make({ cronline: "0 8 * * 1-5" });
  await make({ cronline: "@monthly", label: "Licenses", enabled: false });
  const { id } = await make({
    cronline: "30 2 * * * Europe/Berlin",
    label: "The nightly build of all that the branches in other countries show",
    message: "Nightly",
    branch: "feature/what-somebody-thought-of-on-a-friday-afternoon",
    env: { REGION: "eu-central", CHANNEL: "nightly" },
  });
  return `${list}/${id}`;
}
