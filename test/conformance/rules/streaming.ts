/** Streams: from a send, from a subscription, and how they end. */
import { allVersions, decision, may, must, legacyVersions, should, v1 } from '../rule.ts'
import type { Section } from '../rule.ts'

export const streaming: Section = {
  title: 'Streaming',
  about: 'Events of a task as they happen.',
  rules: [
    must('B-88', allVersions, 'An agent that does not declare streaming refuses to stream.'),
    must('B-89', v1, 'A stream is either one message, or a task followed by updates; never both.'),
    must('B-90', v1, 'It closes when the task has ended.'),
    decision('B-91', allVersions, 'It closes when the task asks for input, unless the agent is set to keep it open.'),
    should('B-92', v1, 'It stays open while the task waits for out-of-band authorization.'),
    must('B-93', v1, 'Events are delivered in the order in which they were created.'),
    must(
      'B-94',
      v1,
      'Several streams of one task get the same events in the same order; closing one disturbs neither the others nor the task.',
    ),
    decision(
      'B-95',
      allVersions,
      'A reader that is too slow loses its stream, not its events: it can resume. It never slows the task down.',
    ),
    may('B-96', v1, 'The task may be sent again anywhere in a stream. The server does not, and the client accepts it.'),
    must(
      'B-97',
      legacyVersions,
      'In 0.x the last status of a stream has `final: true` and every other `false`. In 1.0 there is no such field.',
    ),
    decision('B-98', allVersions, 'A client treats a stream that ends early as an interruption, never as success.'),
    decision('B-99', allVersions, 'Events are distinguished by their key, in 0.x by `kind`.'),
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
  about: 'Joining a running task, or returning to it.',
  rules: [
    must(
      'B-105',
      v1,
      'Any task that has not ended can be subscribed to. The first event is the current task; all later events follow, each once.',
    ),
    must(
      'B-106',
      v1,
      'A finished task is refused as unsupported, an unknown one as not found; an agent without streaming refuses all subscriptions.',
    ),
    decision(
      'B-107',
      v1,
      'The stream closes at the end of the task. For a task that waits for input the stream stays open.',
    ),
    decision('B-108', legacyVersions, 'In 0.x a finished task is sent once and the stream closes.'),
    decision(
      'B-109',
      allVersions,
      'Every event has an `id:`, its position in the log. `Last-Event-ID` resumes right after it, also if the task has ended or the server was restarted in between.',
    ),
  ],
}
