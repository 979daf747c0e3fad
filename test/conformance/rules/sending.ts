/** Sending a message, and how much comes back. */
import { allVersions, decision, may, must, legacyVersions, should, v1 } from '../rule.ts'
import type { Section } from '../rule.ts'

export const sending: Section = {
  title: 'Sending',
  about: 'When a send answers, and what it refuses.',
  rules: [
    must(
      'B-63',
      v1,
      'A send waits until the task has ended or needs something, and answers with the task as it then is, all artifacts included.',
    ),
    must('B-64', v1, 'With `returnImmediately` it answers as soon as the task exists; the work goes on.'),
    must('B-65', v1, '`returnImmediately` means nothing where a message is the answer, nor for streams.'),
    decision(
      'B-66',
      legacyVersions,
      'In 0.x `blocking: false` answers at once and `true` waits. Without `blocking`, a send waits, unless it brings a webhook, or a configuration in ProtoJSON (REST, gRPC), where `false` is left out.',
    ),
    decision(
      'B-67',
      allVersions,
      'A client that leaves during a blocking send does not cancel the task. Waiting has a limit, after which the task is returned as it is.',
    ),
    decision('B-68', allVersions, 'One passage says that a send answers at once. B-63 is the specific rule and wins.'),
    should(
      'B-69',
      allVersions,
      'The agent is told which output modes the client accepts; if none of them fits the agent, the message is refused before any work.',
    ),
    must('B-70', allVersions, 'A part whose media type the agent does not take is refused with -32005.'),
    should(
      'B-71',
      allVersions,
      'A webhook asked for inside a send is there before the answer, and hears of the task from its first event on. A server without push notifications refuses it rather than dropping it silently.',
    ),
    may('B-72', v1, 'A repeated send with the same message id may be recognised (B-163).'),
  ],
}

export const history: Section = {
  title: 'History',
  about: 'How many of a task’s messages come along.',
  rules: [
    must(
      'B-73',
      v1,
      '`historyLength` n is at most the n latest messages, 0 is none and leaves out the key, and saying nothing sets no limit. It holds for sends, streams, reads and lists.',
    ),
    decision('B-74', v1, 'A negative or fractional length is an invalid parameter.'),
    decision(
      'B-75',
      legacyVersions,
      'JSON-RPC 0.x counts as 1.0 does. In 0.3 REST, 0 means no limit, because that format cannot tell 0 from nothing.',
    ),
    decision('B-76', allVersions, 'The length changes what is shown, never what is kept, and never the artifacts.'),
  ],
}
