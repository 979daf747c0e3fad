/**
 * The time of a task's last record, so that no record is written earlier than the one before it. If it is NULL, the next append
 * reads it from the log, so that opening a large file does not have to read the logs of all tasks.
 */
export const sql = `
ALTER TABLE tasks ADD COLUMN last_at INTEGER;
`
