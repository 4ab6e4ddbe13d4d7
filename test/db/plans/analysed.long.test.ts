import { describe } from "node:test";
import { postgres, skipPostgres, sqlite } from "../../helpers/databases.ts";
import { testPlans } from "./check.ts";

const isAnalysed = true;

describe("SQLite with 10,000 rows a table", () =>
  testPlans(sqlite, { amount: 10_000, isAnalysed, hasTour: false }));

describe("Postgres with 30,000 rows a table", { skip: skipPostgres }, () =>
  testPlans(postgres, { amount: 30_000, isAnalysed, hasTour: true }),
);
