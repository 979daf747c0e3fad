/** The start of the response of a receiver that did not accept an event, for the operator who looks for the cause. */
export const sql = `
ALTER TABLE push_attempts ADD COLUMN answer text;
`
