ALTER TABLE `builds` ADD `root_build_id` text;--> statement-breakpoint
ALTER TABLE `concurrency_groups` ADD `reached_at` integer;--> statement-breakpoint
ALTER TABLE `concurrency_groups` ADD `reached_build_id` text;--> statement-breakpoint
CREATE INDEX `concurrency_members_place` ON `concurrency_members` (`group_id`,`standing`,`ordered_at`,`build_id`,`position`,`job_id`);--> statement-breakpoint
CREATE INDEX `concurrency_members_eager_place` ON `concurrency_members` (`group_id`,`max_holders`,"priority" desc,`ordered_at`,`build_id`,`position`,`job_id`) WHERE "concurrency_members"."standing" = 'limited' and "concurrency_members"."is_eager";--> statement-breakpoint
CREATE INDEX `builds_root` ON `builds` (`root_build_id`) WHERE "builds"."root_build_id" is not null;--> statement-breakpoint
DROP INDEX `concurrency_members_order`;--> statement-breakpoint
DROP INDEX `concurrency_members_eager`;