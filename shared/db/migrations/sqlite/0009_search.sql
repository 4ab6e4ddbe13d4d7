CREATE TABLE `search_words` (
	`organization_id` text NOT NULL,
	`kind` text NOT NULL,
	`word` text NOT NULL,
	`subject_id` text NOT NULL,
	PRIMARY KEY(`organization_id`, `kind`, `word`, `subject_id`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `users` ADD `has_shortcuts` integer DEFAULT true NOT NULL;