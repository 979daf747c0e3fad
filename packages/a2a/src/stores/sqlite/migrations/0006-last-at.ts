/**
 * The time of a task's last record, so that none is written earlier than the one before it. Where it is NULL the log knows it: the
 * next append takes it from there, so that opening a large file does not have to read the logs of all tasks.
 */
export const sql = `
ALTER TABLE tasks ADD COLUMN last_at INTEGER;
`
