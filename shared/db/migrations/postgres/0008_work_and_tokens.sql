ALTER TABLE "audit_events" ADD COLUMN "token" text;--> statement-breakpoint
ALTER TABLE "builds" ADD COLUMN "worked_ms" bigint;--> statement-breakpoint
ALTER TABLE "builds" ADD COLUMN "working_since" timestamp (3) with time zone;