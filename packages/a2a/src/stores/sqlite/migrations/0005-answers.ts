/** What receivers answer who do not take an event: its beginning, for whoever has to find out why. */
export const sql = `
ALTER TABLE push_attempts ADD COLUMN answer TEXT;
`
