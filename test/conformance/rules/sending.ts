/** Sending a message, and how much comes back. */
import { allVersions, decision, may, must, legacyVersions, should, v1 } from '../rule.ts'
import type { Section } from '../rule.ts'

export const sending: Section = {
  title: 'Sending',
  about: 'When a send returns, and what it refuses.',
  rules: [
    must(
      'B-63',
      v1,
      'A send waits until the task has ended or is interrupted, and returns the current task with all artifacts.',
    ),
    must('B-64', v1, 'With `returnImmediately` it returns as soon as the task exists; the work continues.'),
    must('B-65', v1, '`returnImmediately` has no effect on direct messages and on streams.'),
    decision(
      'B-66',
      legacyVersions,
      'In 0.x `blocking: false` returns at once and `true` waits. Without `blocking`, a send waits, unless it has a webhook, or a configuration in ProtoJSON (REST, gRPC), where `false` is omitted.',
    ),
    decision(
      'B-67',
      allVersions,
      'A client that leaves during a blocking send does not cancel the task. Waiting has a limit, after which the current task is returned.',
    ),
    decision('B-68', allVersions, 'One passage says that a send returns at once. B-63 is the specific rule and wins.'),
    should(
      'B-69',
      allVersions,
      'The agent receives the output modes that the client accepts. They are a preference: if it supports none of them, it answers in its own. The message is refused, before any work, only if the operator asks for it (`outputModesRequired`).',
    ),
    must('B-70', allVersions, 'A part whose media type the agent does not accept is refused with -32005.'),
    should(
      'B-71',
      allVersions,
      'A webhook inside a send is set before the response, and is notified of the task from its first event on. A server without push notifications refuses it and does not drop it silently.',
    ),
    may('B-72', v1, 'A repeated send with the same message id may be recognised (B-163).'),
  ],
}

export const history: Section = {
  title: 'History',
  about: 'How many messages of a task are returned.',
  rules: [
    must(
      'B-73',
      v1,
      '`historyLength` n is at most the n latest messages, 0 is none and leaves out the key, and omitting it sets no limit. It applies to sends, streams, reads and lists.',
    ),
    decision('B-74', v1, 'A negative or fractional length is an invalid parameter.'),
    decision(
      'B-75',
      legacyVersions,
      'JSON-RPC 0.x counts as 1.0 does. In 0.3 REST, 0 means no limit, because that format cannot distinguish 0 from an unset value.',
    ),
    decision(
      'B-76',
      allVersions,
      'The length changes the response, never the stored history, and never the artifacts.',
    ),
  ],
}
