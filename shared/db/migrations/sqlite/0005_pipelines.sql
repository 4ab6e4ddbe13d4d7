ALTER TABLE `pipelines` ADD `allow_rebuilds` integer DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE `pipelines` ADD `clone_mirror_url` text;--> statement-breakpoint
ALTER TABLE `pipelines` ADD `tags` text;--> statement-breakpoint
ALTER TABLE `pipelines` ADD `emoji` text;--> statement-breakpoint
ALTER TABLE `pipelines` ADD `color` text;