CREATE TABLE `invitations` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`token_hash` text NOT NULL,
	`role` text NOT NULL,
	`recipient` text NOT NULL,
	`created_at` integer NOT NULL,
	`created_by_id` text NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`created_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_token_hash_unique` ON `invitations` (`token_hash`);--> statement-breakpoint
CREATE INDEX `invitations_list` ON `invitations` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `invitations_expiry` ON `invitations` (`expires_at`);--> statement-breakpoint
ALTER TABLE `pipelines` ADD `description` text;--> statement-breakpoint
CREATE INDEX `members_list` ON `members` (`organization_id`,`created_at`,`user_id`);--> statement-breakpoint
CREATE INDEX `members_admins` ON `members` (`organization_id`) WHERE "members"."role" = 'admin';