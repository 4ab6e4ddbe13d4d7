import { describe } from "node:test";
import { sqlite } from "../../helpers/databases.ts";
import { testPlans } from "./check.ts";

// Nothing analyses a database by itself. Without statistics, the plans do not depend on the rows.
describe("SQLite, never analysed", () =>
  testPlans(sqlite, { amount: 1000, isAnalysed: false, hasTour: true }));
