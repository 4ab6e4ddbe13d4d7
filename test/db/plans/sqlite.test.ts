import { describe } from "node:test";
import { sqlite } from "../../helpers/databases.ts";
import { testPlans } from "./check.ts";

describe("SQLite with 10,000 rows a table, analysed", () => testPlans(sqlite, 10_000));

// Nothing analyses a database by itself.
describe("SQLite with 10,000 rows a table, never analysed", () =>
  testPlans(sqlite, 10_000, { isAnalysed: false }));
