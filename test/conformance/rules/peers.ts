/** What software that already exists expects of a server, beyond the protocol. */
import { allVersions, decision, legacyVersions, practice, should } from '../rule.ts'
import type { Section } from '../rule.ts'

export const lifetimes: Section = {
  title: 'Limits and lifetimes',
  about: 'What keeps a long-running server healthy. The protocol leaves it to the implementation.',
  rules: [
    should(
      'B-170',
      allVersions,
      'Streams and unfinished tasks are limited for each caller, so that one caller cannot starve the others.',
    ),
    decision('S0-15', allVersions, 'States only move forward.'),
    decision(
      'S0-18',
      allVersions,
      'The memory store keeps 1,000 tasks; beyond that the oldest finished ones are removed, 100 at a time. Other stores do the same at their own limits.',
    ),
    decision('S0-19', allVersions, 'A task that is still active is never pruned.'),
    decision('S0-20', allVersions, 'A turn that exceeds its limit (default 5 minutes) fails with "Task timed out".'),
    decision('S0-21', allVersions, 'A turn that ends in time clears its deadline: nothing ends twice.'),
  ],
}

export const peers: Section = {
  title: 'What peers send',
  about:
    'Older drafts, widespread clients and products that extend the protocol. We read what they send and answer in the official form.',
  rules: [
    practice('S2-1', legacyVersions, 'JSON-RPC may also be posted to `/api/a2a`.'),
    practice('S2-5', legacyVersions, 'Each event of a 0.x stream is a complete JSON-RPC response.'),
    practice('S2-6', legacyVersions, 'A 0.x stream begins with the task; status and artifact events follow.'),
    practice('S2-7', legacyVersions, 'Chunks of an artifact: the first without `append`, the last with `lastChunk`.'),
    practice('S2-8', legacyVersions, 'The last status event of a stream has `final: true`.'),
    practice(
      'S2-9',
      legacyVersions,
      'All nine states of 0.x are supported, including `rejected`, `auth-required` and `unknown`.',
    ),
    practice('S2-10', legacyVersions, '`kind` is the first property of every 0.x object.'),
    practice('S2-12', legacyVersions, 'A parent’s task is named in `referenceTaskIds`.'),
    practice(
      'S2-14',
      legacyVersions,
      'The answer of a client-side tool is a `tool-result` part. It may name its task by reference alone: a message that refers to exactly one task waiting for that tool continues it. One that fits no open question of a task that asked for a secret is refused.',
    ),
    practice('S2-15', legacyVersions, '`taskId` is accepted in place of `id`.'),
    decision(
      'S2-16',
      allVersions,
      'A wait for input may have a durable deadline, after which the task either fails with the reason INPUT_TIMEOUT or continues without the answer. Off by default.',
    ),
    practice('S2-18', legacyVersions, '`started` is read as `submitted` and never written.'),
    practice('S2-19', legacyVersions, 'The error for an invalid envelope has the reason.'),
    practice('S2-20', legacyVersions, 'An unknown method is named in the error.'),
    practice('S2-21', legacyVersions, 'A missing or wrong message is named in the error.'),
    practice('S2-22', legacyVersions, 'The server creates the task id and keeps the context of the client.'),
    practice('S2-24', legacyVersions, 'A task continues when its client disconnects, and can be subscribed to again.'),
    practice('S2-26', legacyVersions, 'Comments keep an idle stream alive.'),
    practice(
      'S2-31',
      allVersions,
      'Events have `traceId` and `spanId` in their metadata on request: the trace of the request whose turn produced them.',
    ),
    practice(
      'S2-33',
      allVersions,
      'An agent may be an observable: anything that can be subscribed to. Events may be changed or dropped before they are logged, and observed afterwards.',
    ),
    practice('S4-2', allVersions, 'The card of an agent is also at `/a2a/{agent}/agent-card`.'),
    practice('S4-3', allVersions, 'It is also at `/a2a/{agent}/.well-known/agent`.'),
    practice(
      'S4-5',
      legacyVersions,
      '`message/send`, `message/stream`, `tasks/get` and `tasks/cancel` exist for every agent, and an unknown method is -32601.',
    ),
    practice(
      'S4-6',
      legacyVersions,
      'Version, method and id of the envelope are checked, then the parameters of each method.',
    ),
    practice('S4-10', allVersions, 'A part that the agent does not accept is refused with -32005.'),
    practice('S4-19', allVersions, 'A canceled task stays canceled, whatever its agent reports later.'),
  ],
}
