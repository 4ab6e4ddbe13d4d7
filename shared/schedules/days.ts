import { dayMs } from "../durations.ts";

// The days of a cronline. They are decided here, because no library knows weeks that are left out, or the ends of months.

/** Of a month: 1 is its first day, -1 its last. */
export interface MonthDay {
  from: number;
  to: number;
  step: number;
}

export interface Weekday {
  day: number;
  /** Every so many weeks. 1: each week. */
  every: number;
  offset: number;
}

/** If both are given, one of them is enough. */
interface Days {
  monthDays: MonthDay[] | null;
  weekdays: Weekday[] | null;
}

const leapYear = 2028;

/** Says if one of its months has one of its days. */
export function comesToADay(cronline: Days & { months: { values: number[] } }): boolean {
  if (cronline.weekdays || !cronline.monthDays) return true;
  return cronline.months.values.some((month) => {
    const days = new Date(Date.UTC(leapYear, month, 0)).getUTCDate();
    return Array.from(
      { length: days },
      (_, index) => new Date(Date.UTC(leapYear, month - 1, index + 1)),
    ).some((day) => isDayOf(cronline, day));
  });
}

/** Says if a date is a day of a cronline. @param local the date as if it were UTC */
export function isDayOf({ monthDays, weekdays }: Days, local: Date): boolean {
  if (!monthDays && !weekdays) return true;
  return isMonthDay(monthDays ?? [], local) || isWeekday(weekdays ?? [], local);
}

function isMonthDay(monthDays: MonthDay[], local: Date): boolean {
  const day = local.getUTCDate();
  const length = new Date(Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + 1, 0)).getUTCDate();
  const fromStart = (given: number) => (given < 0 ? length + 1 + given : given);
  return monthDays.some(({ from, to, step }) => {
    const first = fromStart(from);
    return day >= first && day <= fromStart(to) && (day - first) % step === 0;
  });
}

/** Weeks are counted from the first of January 2019, a Tuesday, whose week is 1. */
const firstDay = Date.UTC(2019, 0, 1);

function isWeekday(weekdays: Weekday[], local: Date): boolean {
  const week = Math.floor((local.getTime() - firstDay) / (7 * dayMs)) + 1;
  return weekdays.some(
    ({ day, every, offset }) => day === local.getUTCDay() && (week + offset) % every === 0,
  );
}
