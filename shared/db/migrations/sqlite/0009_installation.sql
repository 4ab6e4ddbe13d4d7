INSERT INTO `settings` (`name`, `value`) VALUES ('installation', lower(hex(randomblob(16))));
