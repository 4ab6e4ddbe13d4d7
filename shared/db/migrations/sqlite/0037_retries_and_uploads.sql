ALTER TABLE `jobs` ADD `retried_by_id` text;--> statement-breakpoint
ALTER TABLE `pipeline_uploads` ADD `jobs_made` integer;--> statement-breakpoint
ALTER TABLE `pipeline_uploads` ADD `is_replacing` integer DEFAULT false NOT NULL;