CREATE TABLE `tasks` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`subject_id` text NOT NULL,
	`organization_id` text NOT NULL,
	`due_at` integer NOT NULL,
	`failures` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `tasks_subject` ON `tasks` (`kind`,`subject_id`);--> statement-breakpoint
CREATE INDEX `tasks_due` ON `tasks` (`organization_id`,`due_at`);