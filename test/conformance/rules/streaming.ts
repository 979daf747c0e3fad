/** Streams: from a send, from a subscription, and how they end. */
import { allVersions, decision, may, must, legacyVersions, should, v1 } from '../rule.ts'
import type { Section } from '../rule.ts'

export const streaming: Section = {
  title: 'Streaming',
  about: 'Events of a task as they happen.',
  rules: [
    must('B-88', allVersions, 'An agent that does not announce streaming refuses to stream.'),
    must('B-89', v1, 'A stream is either one message, or a task followed by updates; never a mixture.'),
    must('B-90', v1, 'It closes when the task has ended.'),
    decision('B-91', allVersions, 'It closes when the task asks for input, unless the agent is set to keep it open.'),
    should('B-92', v1, 'It stays open while the task waits for authorization that comes by another way.'),
    must('B-93', v1, 'Events are delivered in the order in which they were made.'),
    must(
      'B-94',
      v1,
      'Several streams of one task get the same events in the same order; closing one disturbs neither the others nor the task.',
    ),
    decision(
      'B-95',
      allVersions,
      'A reader that is too slow loses its stream, not its events: it resumes. It never slows the task down.',
    ),
    may('B-96', v1, 'The task may be sent again anywhere in a stream. We do not, and our client takes it.'),
    must(
      'B-97',
      legacyVersions,
      'In 0.x the last status of a stream has `final: true` and every other `false`. In 1.0 there is no such field.',
    ),
    decision('B-98', allVersions, 'A client takes a stream that ends early for an interruption, never for success.'),
    decision('B-99', allVersions, 'Events are told apart by which key is present, in 0.x by `kind`.'),
    decision(
      'B-100',
      allVersions,
      'Without `append` a chunk replaces the artifact of that id; with it, its parts are added, metadata is merged key by key and extensions are united. `lastChunk` closes that artifact, not the stream.',
    ),
    decision('B-101', allVersions, 'A comment every 15 seconds keeps the connection alive; over gRPC a ping does.'),
    decision(
      'B-102',
      allVersions,
      'A streamed message to an existing task begins with that task, the new message included.',
    ),
    decision('B-103', allVersions, 'A client that disconnects never cancels a task.'),
    must('B-104', v1, 'A streamed send refuses what a plain send refuses.'),
  ],
}

export const subscribing: Section = {
  title: 'Subscribing',
  about: 'Joining a task that is already under way, or coming back to it.',
  rules: [
    must(
      'B-105',
      v1,
      'Any task that has not ended can be subscribed to. First comes the task as it is, then what follows: nothing missing, nothing twice.',
    ),
    must(
      'B-106',
      v1,
      'A finished task is refused as unsupported, an unknown one as not found, and an agent without streaming refuses.',
    ),
    decision(
      'B-107',
      v1,
      'The stream closes at the end of the task. A task that is waiting for input is shown, and the stream stays open.',
    ),
    decision('B-108', legacyVersions, 'In 0.x a finished task is sent once and the stream closes.'),
    decision(
      'B-109',
      allVersions,
      'Every event has an `id:`, its place in the log. `Last-Event-ID` resumes right after it, also when the task has ended or the server was restarted in between.',
    ),
  ],
}
