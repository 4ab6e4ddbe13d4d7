// For drizzle-kit, which requires this file and reads the tables that it exports.
const { kits } = require("./columns.ts");
const { defineSchema } = require("./schema.ts");

module.exports = defineSchema(kits.postgres);
