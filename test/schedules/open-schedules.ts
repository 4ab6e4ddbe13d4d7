import assert from "node:assert/strict";
import { asc, eq } from "drizzle-orm";
import { openDueSchedules } from "../../shared/schedules/due.ts";
import { nextBuildAfter } from "../../shared/schedules/schedules.ts";
import type { Services } from "../../shared/services/services.ts";
import { openApi } from "../helpers/api.ts";
import type { TestDatabase } from "../helpers/databases.ts";

/** Opens an installation whose clock goes to times of schedules, and whose workers look when they are told. */
export async function openSchedules(database: TestDatabase, settings: Record<string, string> = {}) {
  const api = await openApi(database, settings);
  const { services, clock } = api.world;

  const newSchedule = async (schedule: object, pipeline: object = {}) => {
    const { id, slug } = await api.newPipeline(pipeline);
    const at = `/pipelines/${slug}/schedules`;
    const { status, body, text } = await api.send("POST", at, {
      body: { cronline: "0 * * * *", ...schedule },
    });
    assert.equal(status, 201, text);
    const read = async () => (await api.send("GET", `${at}/${body.id}`)).body;
    return { pipelineId: id, slug, at, id: body.id as string, read };
  };
  /** The clock of the test stands at a time. */
  const goTo = (time: Date | number) => {
    clock.freeze();
    clock.advance(Number(time) - clock.now().getTime());
  };
  const next = (cronline: string) => nextBuildAfter(cronline, clock.now()) as Date;
  /** Opens a worker. Its next look is the answer. */
  const openWorker = (isClockRight = () => true, given: Services = services) => {
    const opened = openDueSchedules(given, async () => isClockRight());
    const look = async () => {
      opened.wake();
      await opened.idle();
    };
    return { look, close: () => opened.close() };
  };
  const look = async (workers = 1, isClockRight = true) => {
    const opened = Array.from({ length: workers }, () => openWorker(() => isClockRight));
    await Promise.all(opened.map((each) => each.look()));
    await Promise.all(opened.map((each) => each.close()));
  };
  const buildsOf = (pipelineId: string) => {
    const { builds } = services.db.tables;
    return services.db
      .select()
      .from(builds)
      .where(eq(builds.pipelineId, pipelineId))
      .orderBy(asc(builds.number));
  };
  const timesOf = async (pipelineId: string) =>
    (await buildsOf(pipelineId)).map(({ scheduledFor }) => scheduledFor?.getTime());

  return {
    ...api,
    newSchedule,
    goTo,
    next,
    nextHour: () => next("0 * * * *"),
    openWorker,
    look,
    buildsOf,
    timesOf,
  };
}
