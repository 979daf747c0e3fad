/** Clients written after an implementer's own description of 0.3. */
import { type RequirementGroup, requirement } from '../requirement.ts'

export const legacyV03Draft: RequirementGroup = {
  title: 'Clients of an older draft',
  about:
    'Clients that were written after an early description of 0.3 post JSON-RPC to `/api/a2a` or REST to `/v1`, run their own tools on request, and read trace ids from events. Both paths serve the default agent. The client programs of that description run verbatim, one without a doubled line, against a hub with `profiles.olderDraft`, and against an application on the SDK with `legacyV03Draft`, such as the [RxJS agent in Express](../guides/express-rxjs.md) ([Serve clients of an early 0.3 draft](../guides/legacy-v03-draft.md)): on these two paths, and for requests of this draft only, the server also writes the nonstandard members that they read. An earlier decision not to write such shapes (S2-25, S2-34) is overturned for this profile. Everywhere else the official form is written and both are read.',
  requirements: [
    requirement('S2-1', 'JSON-RPC is posted to `/api/a2a`, or to the address on the card.'),
    requirement(
      'S2-2',
      'Requests have a JSON content type, a bearer token, `Accept: text/event-stream` and a trace context.',
    ),
    requirement('S2-3', '`message/stream` accepts output modes and a history length.'),
    requirement('S2-4', 'A stream is `text/event-stream` that is neither cached nor buffered by proxies.'),
    requirement('S2-5', 'Each event is a complete JSON-RPC response with the id of the request.'),
    requirement('S2-6', 'A stream begins with the task; status and artifact events follow.'),
    requirement(
      'S2-7',
      'Chunks of an artifact: the first with `append: false`, the following with `append: true`, the last with `lastChunk: true`.',
      { instead: 'Outside the profile, `false` is omitted.' },
    ),
    requirement('S2-8', 'The last status event has `final`.'),
    requirement('S2-9', 'All nine states are supported, including `rejected`, `auth-required` and `unknown`.'),
    requirement('S2-10', '`kind` is the first property of every object.'),
    requirement('S2-11', 'An error in a stream is an error event.', {
      instead:
        'A stream that cannot begin is one such event at `/api/a2a`; at `/v1` it is an HTTP status with `{ error: { code, message } }`, which is what the client of that path reads.',
    }),
    requirement(
      'S2-12',
      'A parent names its task in `referenceTaskIds` in its messages to a child, and reports the child in status messages.',
    ),
    requirement(
      'S2-13',
      'A tool of the client is called by `input-required` with an `inputRequest`, and the stream stays open.',
      {
        instead:
          'This applies under the profile, for every question. Elsewhere the request is in the metadata of the client tools extension ([Extensions](../reference/extensions.md)), and the stream closes.',
      },
    ),
    requirement('S2-14', 'Its answer is a `tool-result` part in a new message that refers to the task.', {
      instead: 'An answer that fits no open question of a task that asked for a secret is refused, and not stored.',
    }),
    requirement('S2-15', '`tasks/get` with a `taskId` may be requested as a stream.', {
      instead:
        'A stream under the profile, where `Accept` asks for it. Elsewhere `taskId` is accepted in place of `id`, and `tasks/resubscribe` gives a stream.',
    }),
    requirement('S2-16', 'A wait for input ends after a timeout, with a failure or by continuing.', {
      instead: 'A failure is the state of the task, with the reason INPUT_TIMEOUT, and no error of the stream.',
    }),
    requirement('S2-17', 'Codes for input timeout, failed tools, lost contexts and tasks.', {
      instead:
        'They are the numbers of other errors in the official text, so ours have other numbers, and the reason is in `data`.',
    }),
    requirement('S2-18', '`started` is a state.', { instead: 'It is read as `submitted` and never written.' }),
    requirement('S2-19', 'An invalid envelope gives the reason, with HTTP 400.', {
      instead:
        'With HTTP 200, like all JSON-RPC errors. A missing `id` and a missing `jsonrpc` have one shape: that of the method, which for a stream is an event.',
    }),
    requirement('S2-20', 'An unknown method is named in the error.'),
    requirement('S2-21', 'A missing or wrong message is named in the error.'),
    requirement('S2-22', 'The server creates the id of the task and keeps the context of the client.'),
    requirement('S2-23', 'A stream that fails ends with "Internal error" and its cause.', {
      instead: 'Without the cause, which is in the log of the server.',
    }),
    requirement('S2-24', 'A task continues when its client disconnects, and can be subscribed to again.', {
      instead: 'Over REST too, where the draft would have stopped it.',
    }),
    requirement('S2-25', 'REST at `/v1/message:send` and `/v1/message:stream`, with a bare task and bare events.', {
      instead:
        'Bare for requests whose message has `kind`. Events have a `result` member beside the bare ones, because the client of this draft unwraps one. Ids of tasks are the server’s; errors have the official members beside `error`.',
    }),
    requirement('S2-26', 'A comment keeps an idle stream alive.', { instead: 'Every 15 seconds rather than 30.' }),
    requirement('S2-27', 'A stream ends with a `completed` status.'),
    requirement('S2-28', 'All requests are authenticated, and the card declares how.', {
      instead: 'If configured; without a configuration, all callers on loopback may call.',
    }),
    requirement('S2-29', 'A caller without the scope of a skill is refused, and the error names the skill.', {
      instead: 'As PERMISSION_DENIED and not as an internal error.',
    }),
    requirement('S2-30', 'Every response has the rate limit, the remaining requests, and the reset time.', {
      instead: 'Every response to an authenticated caller.',
    }),
    requirement('S2-31', 'Events carry the ids of trace and span.', {
      instead:
        'For requests that name the trace extension; under the profile, on its two paths, for all requests that name none.',
    }),
    requirement('S2-32', 'A client streams and sends in one call, stops at the end, and assembles chunks.'),
    requirement(
      'S2-33',
      'Events can be changed before and observed after they are logged; tools come from functions, MCP servers and clients; agents may be observables.',
    ),
    requirement('S2-34', 'Artifact events may have an index and a single part.', {
      instead:
        'Overturned: they were read and never written. Under the profile they are written with a `part`, which is the first part of the chunk with its `index` and `append`, beside the official members.',
    }),
  ],
}
