/** What causes each error, and what to do about it. A code without a line is a type error. */
import type { ErrorCode } from '../../packages/a2a/src/model/error.ts'
import type { RouteErrorCode } from '../../packages/hub/src/http/json-response.ts'

export interface ErrorHelp {
  readonly cause: string
  readonly remedy: string
}

/** Codes that only a client creates, and codes inside an agent; none crosses the wire. */
export const localCodes: readonly ErrorCode[] = [
  'CARD_NOT_FOUND',
  'INTERRUPTED',
  'TASK_FAILED',
  'INPUT_REQUIRED',
  'TIMEOUT',
  'CANCELED',
]

export const errorHelp: Readonly<Record<ErrorCode, ErrorHelp>> = {
  PARSE_ERROR: {
    cause: 'The body is missing, is not valid JSON, or (gRPC) is not a valid protobuf message.',
    remedy:
      'Send the body as valid UTF-8 JSON with its complete length. Check that a proxy does not cut or rewrite it.',
  },
  INVALID_REQUEST: {
    cause:
      'The envelope is wrong: not a JSON-RPC 2.0 request, a body that ended early, or contradicting headers. A client also reports it for a call that its own state does not allow, such as reading a stream twice.',
    remedy:
      'Compare the request with the message of the error. JSON-RPC needs `jsonrpc: "2.0"`, `method` and `id`; batches are not supported.',
  },
  METHOD_NOT_FOUND: {
    cause:
      'The protocol version of the request has no such method or path. Often the method of one version was sent with the `A2A-Version` header of another.',
    remedy:
      'Use the names of the version: `message/send` in 0.2 and 0.3, `SendMessage` in 1.0. Send the header `A2A-Version`.',
  },
  AGENT_NOT_FOUND: {
    cause:
      'The path or the tenant names an agent that this server does not have. Or the request names no agent, and there is no default agent at its path: with several agents, paths below `/a2a` begin with a name.',
    remedy:
      'Take the URL from the agent card, or list the agents of a hub with `GET /a2a`. Set `default: true` on one agent if clients send no name.',
  },
  METHOD_NOT_ALLOWED: {
    cause: 'The path exists, but not for this HTTP method.',
    remedy: 'Use a method of the `Allow` header of the response.',
  },
  INVALID_PARAMS: {
    cause:
      'A field is missing, has the wrong type or an invalid value. The details list every such field in `violations`.',
    remedy: 'Correct the listed fields. They are spelled as the version of the request spells them.',
  },
  INTERNAL: {
    cause: 'An unexpected error in the server or the agent. The response contains no details on purpose.',
    remedy:
      'Read the log of the server: it has the cause and the request id. If the agent threw the error, correct the agent; otherwise report a bug.',
  },
  TASK_NOT_FOUND: {
    cause:
      'There is no such task, it belongs to another caller or tenant, or retention has deleted it. The three are the same response, so that ids cannot be probed.',
    remedy:
      'Check the id and that the call uses the credentials that created the task. Check `retention` for tasks that are gone.',
  },
  TASK_NOT_CANCELABLE: {
    cause: 'The task has already ended.',
    remedy: 'Nothing to do: read the result with `GetTask`.',
  },
  PUSH_NOTIFICATION_NOT_SUPPORTED: {
    cause: 'The agent does not offer push notifications: its card has no `capabilities.pushNotifications`.',
    remedy: 'Use a stream or poll the task. As the operator, turn webhooks on (`push`).',
  },
  UNSUPPORTED_OPERATION: {
    cause:
      'The agent or the task does not accept this operation: the agent does not stream, the task has ended and accepts no messages, or the task is busy.',
    remedy:
      'Check `capabilities` of the card. To continue after a task has ended, start a new task with the same `contextId`. Send to a busy task again when it waits for input.',
  },
  CONTENT_TYPE_NOT_SUPPORTED: {
    cause:
      'The media type of a part is not an input mode of the agent. Or the agent has `outputModesRequired`, and the request accepts none of its output modes.',
    remedy:
      'Send one of `defaultInputModes` of the card. Accept one of `defaultOutputModes`, or send no `acceptedOutputModes`.',
  },
  INVALID_AGENT_RESPONSE: {
    cause:
      'The remote agent sent something that is not A2A: a malformed body, a card that is invalid or whose signature is wrong, a redirect that is not followed, or a response over the limits of the client.',
    remedy:
      'Check the URL: it may lead to a web page or a proxy. `details.reason` names the case, such as `REDIRECT` or `CARD_SIGNATURE`. Raise `limits` of the client for large responses.',
  },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: {
    cause: 'The card declares an extended card, but the agent has none.',
    remedy: 'Use the public card. As the author, return an extended card or remove the capability.',
  },
  EXTENSION_SUPPORT_REQUIRED: {
    cause: 'The agent requires an extension that the request did not activate.',
    remedy:
      'List the URIs of the error in the `A2A-Extensions` header (`X-A2A-Extensions` in 0.3), if your client implements them.',
  },
  VERSION_NOT_SUPPORTED: {
    cause:
      'The agent does not offer the requested protocol version, or a version and binding that the client was limited to.',
    remedy:
      'Use a version of `supportedVersions` in the details, or remove the restriction (`version`, `prefer`) from the client.',
  },
  UNAUTHENTICATED: {
    cause: 'The credentials are missing, expired, revoked or invalid.',
    remedy:
      'Send credentials of a scheme in `securitySchemes` of the card. The `WWW-Authenticate` header names the expected scheme. Create another key with `parley key create`.',
  },
  PERMISSION_DENIED: {
    cause:
      'The caller is known, but lacks a scope for this agent, skill or operation; or the `Host` or `Origin` of the request is not allowed.',
    remedy:
      'Grant the scope that the details name, such as `agent:<name>`. For browsers, add the origin to `cors`; behind a proxy, set `publicUrl`.',
  },
  RATE_LIMITED: {
    cause: 'A limit is used up: requests per time, new tasks per day, unfinished tasks, open streams or connections.',
    remedy:
      'Wait for `Retry-After` seconds and repeat the call. Close streams that are not read. As the operator, raise the limit under `limits` or of the key.',
  },
  AGENT_UNAVAILABLE: {
    cause:
      'The hub has the agent, but it cannot take work: it does not start, does not respond, its queue is full, or its circuit breaker is open.',
    remedy:
      'If the response has `Retry-After` (a full queue), retry after that time. Otherwise the agent is down: try again when the operator has repaired it. As the operator, see the health of the agent in the console or in the log, and check its URL, command and credentials.',
  },
  INPUT_TIMEOUT: {
    cause: 'The task waited for input and received none within `inputTimeout`.',
    remedy: 'Start a new task in the same context. As the operator, raise `inputTimeout` of the agent.',
  },
  TOOL_EXECUTION_FAILED: {
    cause: 'A tool that the agent called failed: a tool of the client, or one of an MCP server.',
    remedy: 'The message is that of the tool. Correct its input or the tool itself.',
  },
  CONTEXT_REJECTED: {
    cause:
      'The `contextId` of the message cannot be accepted: it belongs to another caller, or not to the task of the message.',
    remedy: 'Send the `contextId` of the task, or omit it.',
  },
  MESSAGE_ID_REUSED: {
    cause: 'The `messageId` was used before, for a message with other content.',
    remedy: 'Create a new id for each message. Repeat an id only to repeat the same message after a failure.',
  },
  PAYLOAD_TOO_LARGE: {
    cause:
      'The request has more bytes, parts or JSON values than the server accepts, or an event exceeds `maxEventBytes`.',
    remedy: 'Send large files as a URL. As the operator, raise `limits.body`, `limits.parts` or `limits.jsonNodes`.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    cause: 'The `Content-Type` of the request is not one of the protocol.',
    remedy: 'Send `application/json`, or `application/a2a+json` with REST 1.0.',
  },
  UNAVAILABLE: {
    cause:
      'The server cannot serve the call now: it is shutting down, its store does not respond, or the client did not read its stream.',
    remedy:
      'Retry after `Retry-After`; a stream resumes where it stopped. As the operator, check the store and the disk.',
  },
  CARD_NOT_FOUND: {
    cause: 'The URL has no agent card: `/.well-known/agent-card.json` and the older paths return 404.',
    remedy: 'Pass the base URL of the agent, or the URL of the card itself. The message lists the tried paths.',
  },
  INTERRUPTED: {
    cause: 'The connection or the process ended before the result.',
    remedy:
      'Repeat the call: the task continues, and a repeated `messageId` does not run twice. `stream()` reconnects by itself.',
  },
  TASK_FAILED: {
    cause: 'The task ended as failed, rejected or canceled while `ask()` or `invoke()` waited for its result.',
    remedy: 'The message is that of the agent; `details.taskId` and `details.state` identify the task.',
  },
  INPUT_REQUIRED: {
    cause: 'The task waits for an answer or for credentials, and the call had no handler for that.',
    remedy:
      'Use `chat()` with an `onInputRequired` handler, or send the answer as a message with the `taskId` of the details.',
  },
  TIMEOUT: {
    cause: 'There was no response within the timeout of the call, or the turn of an agent exceeded its deadline.',
    remedy:
      'Raise `timeoutMs` of the client, or `timeout` of the agent. The task may still run: read it with `GetTask`.',
  },
  CANCELED: {
    cause: 'The task was canceled: the reason of `turn.signal` in the agent. Peers see UNSUPPORTED_OPERATION instead.',
    remedy: 'Stop the work and release what the turn opened.',
  },
}

export const routeErrorHelp: Readonly<Record<RouteErrorCode, ErrorHelp>> = {
  INVALID_PARAMS: {
    cause: 'A field of the path, the query or the body is invalid.',
    remedy: 'Correct every field in `violations`.',
  },
  UNAUTHENTICATED: {
    cause: 'The admin key, token or session is missing or invalid.',
    remedy: 'Send `Authorization: Bearer <admin key>`, or sign in again.',
  },
  PERMISSION_DENIED: {
    cause: 'The credentials do not grant the scope `admin`, or a change by session lacks its CSRF token.',
    remedy: 'Map the user to `admin` in `access.jwt`, or send `X-CSRF-Token`.',
  },
  NOT_FOUND: { cause: 'There is no such route or resource.', remedy: 'Check the path and the id.' },
  METHOD_NOT_ALLOWED: {
    cause: 'The path does not take this HTTP method.',
    remedy: 'Use a method of the `Allow` header.',
  },
  CONFLICT: {
    cause: 'The resource changed or ended since it was read, or the name exists already.',
    remedy: 'Read it again and repeat the change.',
  },
  PAYLOAD_TOO_LARGE: { cause: 'The body is too large for this route.', remedy: 'Send less.' },
  UNSUPPORTED_MEDIA_TYPE: { cause: 'The body is not JSON.', remedy: 'Send `application/json`.' },
  RATE_LIMITED: { cause: 'Too many requests or failed sign-ins.', remedy: 'Wait for `Retry-After` seconds.' },
  UNAVAILABLE: {
    cause: 'The feature is disabled, or what it needs does not respond.',
    remedy: 'Enable it in the configuration, or retry later.',
  },
  INTERNAL: { cause: 'An unexpected error in the hub.', remedy: 'Read the log of the hub.' },
}
