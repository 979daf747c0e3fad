/** The URIs of our own protocol extensions (B-141, B-146): identifiers, never fetched. */

/**
 * Tools that run at the client. A question carries `message.metadata[uri].inputRequest`, a call or its answer is
 * a data part with `metadata[uri].type`. Peers that write these as part kinds of their own are read into this form.
 */
export const clientToolsExtension = 'https://parley.dev/extensions/client-tools/v1'

/**
 * Where an event stands in its task's log, for carriers that have no `id:` of their own: `metadata[uri].cursor`.
 * After a cursor that the log no longer reaches back to, the first event is a snapshot with `metadata[uri].gap`.
 */
export const cursorExtension = 'https://parley.dev/extensions/cursor/v1'
