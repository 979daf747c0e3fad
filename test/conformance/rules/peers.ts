/** What software that already exists expects of a server, beyond the protocol. */
import { allVersions, decision, legacyVersions, practice, should } from '../rule.ts'
import type { Section } from '../rule.ts'

export const lifetimes: Section = {
  title: 'Limits and lifetimes',
  about: 'What keeps a server healthy that runs for months. The protocol leaves it to the implementation.',
  rules: [
    should(
      'B-170',
      allVersions,
      'Streams and unfinished tasks are limited for each caller, so that one cannot starve the others.',
    ),
    decision('S0-15', allVersions, 'States only move forward.'),
    decision(
      'S0-18',
      allVersions,
      'The memory store keeps 1,000 tasks; beyond that the oldest finished ones go, 100 at a time. Other stores do the same at limits of their own.',
    ),
    decision('S0-19', allVersions, 'A task that is still active is never pruned.'),
    decision(
      'S0-20',
      allVersions,
      'A turn that runs longer than its limit (5 minutes unless set otherwise) fails with "Task timed out".',
    ),
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
    practice('S2-8', legacyVersions, 'The last status event of a stream says so.'),
    practice(
      'S2-9',
      legacyVersions,
      'All nine states of 0.x are known, `rejected`, `auth-required` and `unknown` among them.',
    ),
    practice('S2-10', legacyVersions, '`kind` is the first property of every 0.x object.'),
    practice('S2-12', legacyVersions, 'A parent’s task is named in `referenceTaskIds`.'),
    practice(
      'S2-14',
      legacyVersions,
      'The answer of a client-side tool is a `tool-result` part. It may name its task by reference alone: a message that refers to exactly one task waiting for that tool continues it. One that fits no open question of a task that asked for a secret is refused.',
    ),
    practice('S2-15', legacyVersions, '`taskId` is read where `id` is meant.'),
    decision(
      'S2-16',
      allVersions,
      'A wait for input may have a durable deadline, after which the task either fails with the reason INPUT_TIMEOUT or goes on without the answer. Off unless set.',
    ),
    practice('S2-18', legacyVersions, '`started` is read as `submitted` and never written.'),
    practice('S2-19', legacyVersions, 'An envelope that is refused says why.'),
    practice('S2-20', legacyVersions, 'An unknown method is named in the error.'),
    practice('S2-21', legacyVersions, 'A missing or wrong message is named in the error.'),
    practice('S2-22', legacyVersions, 'The server makes the task id and keeps the client’s context.'),
    practice('S2-24', legacyVersions, 'A task goes on when its client disconnects, and can be subscribed to again.'),
    practice('S2-26', legacyVersions, 'Comments keep an idle stream alive.'),
    practice(
      'S2-31',
      allVersions,
      'Events say `traceId` and `spanId` in their metadata to those who ask for it: the trace of the request whose turn said them.',
    ),
    practice(
      'S2-33',
      allVersions,
      'An agent may be an observable: anything that can be subscribed to. Events may be changed or dropped before they are logged, and listened to afterwards.',
    ),
    practice('S4-2', allVersions, 'The card of an agent is also at `/a2a/{agent}/agent-card`.'),
    practice('S4-3', allVersions, 'It is also at `/a2a/{agent}/.well-known/agent`.'),
    practice(
      'S4-5',
      legacyVersions,
      '`message/send`, `message/stream`, `tasks/get` and `tasks/cancel` are there for every agent, and a method that is not there is -32601.',
    ),
    practice(
      'S4-6',
      legacyVersions,
      'Version, method and id of the envelope are checked, then the parameters of each method.',
    ),
    practice('S4-10', allVersions, 'A kind of part that the agent does not take is refused with -32005.'),
    practice('S4-19', allVersions, 'A canceled task stays canceled, whatever its agent finishes later.'),
  ],
}
