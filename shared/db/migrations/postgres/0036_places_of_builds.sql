ALTER TABLE "builds" ADD COLUMN "root_build_id" uuid;--> statement-breakpoint
ALTER TABLE "concurrency_groups" ADD COLUMN "reached_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "concurrency_groups" ADD COLUMN "reached_build_id" uuid;--> statement-breakpoint
CREATE INDEX "builds_root" ON "builds" USING btree ("root_build_id") WHERE "builds"."root_build_id" is not null;--> statement-breakpoint
CREATE INDEX "concurrency_members_place" ON "concurrency_members" USING btree ("group_id","standing","ordered_at","build_id","position","job_id");--> statement-breakpoint
CREATE INDEX "concurrency_members_eager_place" ON "concurrency_members" USING btree ("group_id","max_holders","priority" desc,"ordered_at","build_id","position","job_id") WHERE "concurrency_members"."standing" = 'limited' and "concurrency_members"."is_eager";--> statement-breakpoint
DROP INDEX "concurrency_members_order";--> statement-breakpoint
DROP INDEX "concurrency_members_eager";