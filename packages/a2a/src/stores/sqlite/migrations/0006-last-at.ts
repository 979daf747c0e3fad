/** The time of a task's last record, so that none is written earlier than the one before it. Unknown until the next append: the status is a lower bound. */
export const sql = `
ALTER TABLE tasks ADD COLUMN last_at INTEGER;
`
