// Units of systemd that were copied from release 0.1.0 load this path. The next release drops it.
import "../process/drizzle-modules.ts";
