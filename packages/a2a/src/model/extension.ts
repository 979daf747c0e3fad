/** The URIs of our own protocol extensions (B-141, B-146): identifiers, never fetched. */

/**
 * Tools that run at the client. A client lists them with each message in `message.metadata[uri].tools` (`name`,
 * `description`, `inputSchema`). A call is a data part `{ toolUseId, name, input }` with `metadata[uri].type` `tool-use`
 * in the message of an INPUT_REQUIRED; its answer is one of the type `tool-result` with `{ toolUseId, result }` or
 * `{ toolUseId, error: { reason, message } }`. A question to the person at the client carries
 * `message.metadata[uri].inputRequest` (`requestId`, `prompt`, `sensitive`) and is answered by such a result too.
 * Peers that write these as part kinds of their own are read into this form.
 */
export const clientToolsExtension = 'https://parley.dev/extensions/client-tools/v1'

/**
 * Where an event stands in its task's log, for carriers that have no `id:` of their own: `metadata[uri].cursor`.
 * After a cursor that the log no longer reaches back to, the first event is a snapshot with `metadata[uri].gap`.
 */
export const cursorExtension = 'https://parley.dev/extensions/cursor/v1'
