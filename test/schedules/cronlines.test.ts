import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Cronline, readCronline } from "../../shared/schedules/cronline.ts";
import { nextTimes } from "../../shared/schedules/times.ts";

function read(text: string): Cronline {
  const cronline = readCronline(text);
  if ("problem" in cronline) throw new Error(`${text}: ${cronline.problem}`);
  return cronline;
}

function after(text: string, from: string, count = 3): string[] {
  const times = nextTimes(read(text), new Date(from), count);
  return times.map((time) => time.toISOString().replace(":00.000Z", ""));
}

describe("cronlines", () => {
  it("come at their minutes, hours and days", () => {
    const from = "2026-01-01T00:00:00Z";
    const expected = {
      "*/30 * * * *": ["2026-01-01T00:30", "2026-01-01T01:00", "2026-01-01T01:30"],
      "5/25 22-23 * * *": ["2026-01-01T22:05", "2026-01-01T22:30", "2026-01-01T22:55"],
      "0 */12 * * *": ["2026-01-01T12:00", "2026-01-02T00:00", "2026-01-02T12:00"],
      "0 23-1 * * *": ["2026-01-01T01:00", "2026-01-01T23:00", "2026-01-02T00:00"],
      "0 16 * * SUN": ["2026-01-04T16:00", "2026-01-11T16:00", "2026-01-18T16:00"],
      "0 16 * * 7": ["2026-01-04T16:00", "2026-01-11T16:00", "2026-01-18T16:00"],
      "0 0 * * 1-5": ["2026-01-02T00:00", "2026-01-05T00:00", "2026-01-06T00:00"],
      "0 0 * * fri-mon": ["2026-01-02T00:00", "2026-01-03T00:00", "2026-01-04T00:00"],
      "0 0 * * sat-sun": ["2026-01-03T00:00", "2026-01-04T00:00", "2026-01-10T00:00"],
      "0 0 1 */2 *": ["2026-03-01T00:00", "2026-05-01T00:00", "2026-07-01T00:00"],
      "0 0 1 jan,Jul *": ["2026-07-01T00:00", "2027-01-01T00:00", "2027-07-01T00:00"],
      // Either day is enough.
      "0 0 13 * fri": ["2026-01-02T00:00", "2026-01-09T00:00", "2026-01-13T00:00"],
    };
    for (const [text, times] of Object.entries(expected)) assert.deepEqual(after(text, from), times, text);
  });

  it("come at the ends of months", () => {
    const from = "2027-12-31T12:00:00Z";
    assert.deepEqual(after("0 0 L * *", from), ["2028-01-31T00:00", "2028-02-29T00:00", "2028-03-31T00:00"]);
    assert.deepEqual(after("0 0 last 2 *", from, 2), ["2028-02-29T00:00", "2029-02-28T00:00"]);
    assert.deepEqual(after("0 0 -2-L 2 *", from, 4), [
      ...["2028-02-28T00:00", "2028-02-29T00:00", "2029-02-27T00:00", "2029-02-28T00:00"],
    ]);
    assert.deepEqual(after("0 0 29 2 *", from, 2), ["2028-02-29T00:00", "2032-02-29T00:00"]);
    assert.deepEqual(after("0 0 31 * *", from, 2), ["2028-01-31T00:00", "2028-03-31T00:00"]);
    assert.deepEqual(after("0 0 */15 * *", from, 3), [
      ...["2028-01-01T00:00", "2028-01-16T00:00", "2028-01-31T00:00"],
    ]);
  });

  it("come in some weeks, counted from the first of January 2019", () => {
    const from = "2018-12-31T00:00:00Z";
    assert.deepEqual(after("0 0 * * tue%2", from, 2), ["2019-01-08T00:00", "2019-01-22T00:00"]);
    assert.deepEqual(after("0 0 * * 2%2+1", from, 2), ["2019-01-01T00:00", "2019-01-15T00:00"]);
    assert.deepEqual(after("0 0 * * sun%3,2%2", from, 3), [
      ...["2019-01-08T00:00", "2019-01-20T00:00", "2019-01-22T00:00"],
    ]);
  });

  it("come at the times of a zone", () => {
    const from = "2026-06-01T00:00:00Z";
    assert.deepEqual(after("0 8 * * * America/Vancouver", from, 1), ["2026-06-01T15:00"]);
    assert.deepEqual(after("0 0 */2 * * +01:00", from, 2), ["2026-06-02T23:00", "2026-06-04T23:00"]);
    assert.deepEqual(after("0 0 L * * Australia/Lord_Howe", from, 1), ["2026-06-29T13:30"]);
    assert.deepEqual(after("@daily -05:30", from, 1), ["2026-06-01T05:30"]);
  });

  it("come in zones under other names, in upper and lower case, and as far from UTC as any clock", () => {
    const from = "2026-06-01T00:00:00Z";
    const times = {
      "0 8 * * * europe/BERLIN": "2026-06-01T06:00",
      "0 8 * * * US/Pacific": "2026-06-01T15:00",
      "0 8 * * * Asia/Kolkata": "2026-06-01T02:30",
      "0 8 * * * asia/calcutta": "2026-06-01T02:30",
      "0 8 * * * EST5EDT": "2026-06-01T12:00",
      "0 8 * * * utc": "2026-06-01T08:00",
      "0 8 * * * +14:00": "2026-06-01T18:00",
      "0 8 * * * -1200": "2026-06-01T20:00",
      "0 8 * * * Pacific/Kiritimati": "2026-06-01T18:00",
    };
    for (const [text, time] of Object.entries(times)) assert.deepEqual(after(text, from, 1), [time], text);
  });

  it("come in rare months, however many times their hours have", () => {
    assert.deepEqual(after("*/10 * 29 2 * Europe/Berlin", "2026-09-05T07:26:12Z", 2), [
      ...["2028-02-28T23:00", "2028-02-28T23:10"],
    ]);
    assert.deepEqual(after("0,50 * 29 2 *", "2028-06-16T17:01:04Z", 1), ["2032-02-29T00:00"]);
    assert.deepEqual(after("*/10 22-23 31 * * America/Santiago", "2027-09-04T18:08:25Z", 1), [
      "2027-11-01T01:00",
    ]);
    assert.deepEqual(after("0 0 * * tue%99 Europe/Berlin", "2026-11-28T00:00:00Z", 1), ["2028-06-19T22:00"]);
  });

  it("come to no time in years, in weeks that never have their month", () => {
    assert.deepEqual(after("0 0 * 1 mon%52", "2026-06-01T00:00:00Z"), []);
  });

  it("come once a day when clocks are changed, however often they show a time", () => {
    // 02:30 is not there on 29 March, and comes twice on 25 October.
    assert.deepEqual(after("30 2 * * * Europe/Berlin", "2026-03-27T12:00:00Z"), [
      ...["2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"],
    ]);
    assert.deepEqual(after("30 2 * * * Europe/Berlin", "2026-10-24T12:00:00Z"), [
      ...["2026-10-25T00:30", "2026-10-26T01:30", "2026-10-27T01:30"],
    ]);
    assert.deepEqual(after("0 * * * * Europe/Berlin", "2026-10-25T00:00:00Z"), [
      ...["2026-10-25T01:00", "2026-10-25T02:00", "2026-10-25T03:00"],
    ]);
  });

  it("come once a day for a year in each zone with changes of the clock", () => {
    for (const zone of ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]) {
      const times = nextTimes(read(`30 2 * * * ${zone}`), new Date("2026-01-01T12:00:00Z"), 365);
      const day = new Intl.DateTimeFormat("en-CA", { timeZone: zone });
      assert.equal(new Set(times.map((time) => day.format(time))).size, 365, zone);
    }
  });

  it("have the names of intervals", () => {
    const from = "2026-05-05T05:05:00Z";
    const next = (name: string) => after(name, from, 1)[0];
    assert.deepEqual(["@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly"].map(next), [
      ...["2026-05-05T06:00", "2026-05-06T00:00", "2026-05-06T00:00"],
      ...["2026-05-10T00:00", "2026-06-01T00:00", "2027-01-01T00:00"],
    ]);
  });

  it("say what is wrong", () => {
    const problems = {
      "": "must have five fields and perhaps a time zone, such as 0 8 * * 1-5 Europe/Berlin",
      "* * * *": "must have five fields and perhaps a time zone, such as 0 8 * * 1-5 Europe/Berlin",
      "0 0 * * * *": "must have five fields and perhaps a time zone, such as 0 8 * * 1-5 Europe/Berlin",
      "60 * * * *": "has no valid minute: 60. It must be 0 to 59",
      "~ * * * *": "has no valid minute: ~",
      "0 24 * * *": "has no valid hour: 24. It must be 0 to 23",
      "0 0 0 * *": "has no valid day of the month: 0. It must be 1 to 31",
      "0 0 5-3 * *": "has a day of the month that ends before it begins: 5-3",
      "0 0 * 13 *": "has no valid month: 13. It must be 1 to 12",
      "0 0 * * 8": "has no valid day of the week: 8. It must be 0 to 7",
      "0 0 * * 1%0": "has no valid day of the week: 1%0",
      "0 0/0 * * *": "has a step of 0 in its hour",
      "0 0 * * * +14:01": "has no time zone +14:01. Name one as Europe/Berlin or +01:00",
      "@daily -19:59": "has no time zone -19:59. Name one as Europe/Berlin or +01:00",
      "@daily +23:00": "has no time zone +23:00. Name one as Europe/Berlin or +01:00",
      L: "must have five fields and perhaps a time zone, such as 0 8 * * 1-5 Europe/Berlin",
      "0 0 * * %": "has no valid day of the week: %",
      "0 0 * * *%": "has no valid day of the week: *%",
      "0 0 * * *5": "has no valid day of the week: *5",
      "0 0 -32 * *": "has no valid day of the month: -32. It must be 1 to 31",
      "0 0 31 2 *": "never comes to a time",
      "0 0 -31 2,4 *": "never comes to a time",
      "0 0 * * * Mars/Olympus": "has no time zone Mars/Olympus. Name one as Europe/Berlin or +01:00",
      "@reboot":
        "has no interval @reboot. There are @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually",
      "@constructor":
        "has no interval @constructor. There are @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually",
      "0 0 30 2 *": "never comes to a time",
      "*/5 * * * *": "comes every 5 minutes: at least 10 minutes must lie between two times",
      "0,59 * * * *": "comes every minute: at least 10 minutes must lie between two times",
    };
    for (const [text, problem] of Object.entries(problems))
      assert.deepEqual(readCronline(text), { problem: `Cronline ${problem}` }, text);
    assert.ok(!("problem" in readCronline("*/10 * * * *")));
    assert.ok(!("problem" in readCronline("0,55 8,12 * * *")));
  });
});
