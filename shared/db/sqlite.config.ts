import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "sqlite",
  schema: "./shared/db/sqlite.schema.cjs",
  out: "./shared/db/migrations/sqlite",
});
