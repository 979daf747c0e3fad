/** The URIs of our own protocol extensions (B-141, B-146): identifiers, never fetched (T-11). docs/extensions.md tells more. */

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

/**
 * Secrets in the middle of a task. A part that is marked with `metadata[uri].sensitive`, or every part of a message that
 * is, reaches the agent and is kept nowhere. What an agent needs is a data part `{ securitySchemes, inBand }` of
 * the type `auth-request` in the message of an AUTH_REQUIRED; what is brought in a message is one of the type
 * `credentials` with `{ scheme, credentials }`, and is sensitive by itself.
 */
export const credentialsExtension = 'https://parley.dev/extensions/credentials/v1'

/**
 * Agents that call agents. A message says in `metadata[uri]` by when its task has to have ended (`deadline`, in UTC), and a
 * hub that calls another one shows there by whom it was called itself (`hop`, a signed token). Status messages about work
 * that was handed on say in `metadata[uri]` to whom: `agent`, and `taskId`. Docs: delegation.md.
 */
export const delegationExtension = 'https://parley.dev/extensions/delegation/v1'

/** When an event was logged: `metadata[uri].at`, in UTC with milliseconds. */
export const timestampsExtension = 'https://parley.dev/extensions/timestamps/v1'

/**
 * Which trace an event belongs to: `metadata[uri]` with `traceId` and `spanId`, and the two once more beside it, where
 * clients of older drafts look for them.
 */
export const traceExtension = 'https://parley.dev/extensions/trace/v1'
