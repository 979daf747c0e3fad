/** The URIs of our own protocol extensions (B-141, B-146): identifiers, never fetched (T-11). See docs/reference/extensions.md. */

/**
 * The URI of the client-tools extension: tools that run at the client. A client lists them with each message in
 * `message.metadata[uri].tools` (`name`, `description`, `inputSchema`). A call is a data part `{ toolUseId, name, input }` with
 * `metadata[uri].type` `tool-use` in the message of an INPUT_REQUIRED; its answer is a part of the type `tool-result` with `{
 * toolUseId, result }` or `{ toolUseId, error: { reason, message } }`. A question to the user of the client carries
 * `message.metadata[uri].inputRequest` (`requestId`, `prompt`, `sensitive`) and is also answered by such a result. Peers that
 * write these as part kinds of their own are converted to this form.
 */
export const clientToolsExtension = 'https://parley.dev/extensions/client-tools/v1'

/**
 * The URI of the cursor extension: the position of an event in its task log, for bindings that have no `id:` of their own:
 * `metadata[uri].cursor`. If the log no longer reaches back to a cursor, the first event is a snapshot with
 * `metadata[uri].gap`.
 */
export const cursorExtension = 'https://parley.dev/extensions/cursor/v1'

/**
 * The URI of the credentials extension: secrets in the middle of a task. A part marked with `metadata[uri].sensitive`, or every
 * part of a message so marked, reaches the agent and is stored nowhere. An agent requests credentials with a data part `{
 * securitySchemes, inBand }` of the type `auth-request` in the message of an AUTH_REQUIRED. A client sends them in a part of
 * the type `credentials` with `{ scheme, credentials }`, which is always sensitive.
 */
export const credentialsExtension = 'https://parley.dev/extensions/credentials/v1'

/**
 * The URI of the delegation extension: agents that call agents. A message sets in `metadata[uri]` the time by which its task
 * must have ended (`deadline`, in UTC). A hub that calls another hub adds a signed token that names its own caller (`hop`).
 * Status messages about delegated work name the target in `metadata[uri]`: `agent`, and `taskId`. Docs: delegation.md.
 */
export const delegationExtension = 'https://parley.dev/extensions/delegation/v1'

/** The URI of the timestamps extension: when an event was logged, in `metadata[uri].at`, in UTC with milliseconds. */
export const timestampsExtension = 'https://parley.dev/extensions/timestamps/v1'

/**
 * The URI of the trace extension: the trace of an event, in `metadata[uri]` with `traceId` and `spanId`, and the two once more
 * beside it, where clients of older drafts look for them.
 */
export const traceExtension = 'https://parley.dev/extensions/trace/v1'
