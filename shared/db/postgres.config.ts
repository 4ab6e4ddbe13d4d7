import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "postgresql",
  schema: "./shared/db/postgres.schema.cjs",
  out: "./shared/db/migrations/postgres",
});
