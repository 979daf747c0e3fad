import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Artifact, Message, StreamEvent, Task, TaskState } from '@parley/a2a'
import {
  emptyTranscript,
  applyEvents,
  fromStreamEvent,
  isWorkingState,
  withPendingMessage,
  transcriptOf,
} from './transcript.ts'
import type { TranscriptEvent, Transcript } from './transcript.ts'
import type { LogRecord } from '../api/admin.ts'

type LoggedEvent = Pick<LogRecord, 'seq' | 'at' | 'body'>

const at = '2030-01-31T12:00:00.000Z'
const said = (messageId: string, text: string, role: Message['role'] = 'ROLE_USER'): Message => ({
  messageId,
  role,
  parts: [{ text }],
})
const status = (state: TaskState, message?: Message) => ({
  type: 'status',
  status: { state, timestamp: at, ...(message === undefined ? {} : { message }) },
})
const chunk = (text: string, more: object = { append: true }) => ({
  type: 'artifact',
  artifact: { artifactId: 'answer', parts: [{ text }] },
  ...more,
})

/** Numbered from 1, one second apart. */
function logged(...bodies: readonly object[]): readonly LoggedEvent[] {
  return bodies.map((body, index) => ({
    seq: index + 1,
    at: new Date(Date.parse(at) + index * 1_000).toISOString(),
    body: body as LoggedEvent['body'],
  }))
}

function textsOf({ items }: Transcript): readonly string[] {
  const textIn = (parts: Artifact['parts'] = []) => parts.map((part) => ('text' in part ? part.text : '…')).join('|')
  return items.map((item) => {
    if (item.kind === 'made') return `made ${textIn(item.artifact.parts)}`
    if (item.kind === 'rerun') return `rerun ${item.attempt}`
    return `${item.kind} ${textIn(item.message?.parts)}`.trim()
  })
}

const log = logged(
  { type: 'message', message: said('m1', 'A table') },
  status('TASK_STATE_SUBMITTED'),
  { type: 'turn-started', turn: 1, attempt: 1, consumedSeq: 1 },
  status('TASK_STATE_INPUT_REQUIRED', said('q1', 'Which city?', 'ROLE_AGENT')),
  { type: 'message', message: said('m2', 'Rome') },
  status('TASK_STATE_WORKING', said('s1', 'Looking', 'ROLE_AGENT')),
  chunk('Your ', {}),
  chunk('table'),
  chunk('', { append: true, lastChunk: true }),
  status('TASK_STATE_COMPLETED'),
)
const task: Task = {
  id: 't1',
  contextId: 'c1',
  status: { state: 'TASK_STATE_COMPLETED', timestamp: at },
  history: [
    said('m1', 'A table'),
    said('q1', 'Which city?', 'ROLE_AGENT'),
    said('m2', 'Rome'),
    said('s1', 'Looking', 'ROLE_AGENT'),
  ],
  artifacts: [{ artifactId: 'answer', parts: [{ text: 'Your table' }] }],
}

describe('a transcript', () => {
  it('is built from the log in order, with times and seqs', () => {
    const talk = transcriptOf(task, log, 10)
    assert.deepEqual(textsOf(talk), [
      'said A table',
      'asked Which city?',
      'said Rome',
      'status Looking',
      'made Your table',
      'ended',
    ])
    assert.deepEqual(talk.items.at(4)?.seqs, [7, 8, 9])
    assert.deepEqual(
      talk.items.map((item) => (item.at ?? 0) - Date.parse(at)),
      [0, 3_000, 4_000, 5_000, 6_000, 9_000],
    )
    const end = talk.items.at(-1)
    assert.equal(end?.kind === 'ended' && end.tookMs, 8_000)
    assert.equal(talk.head, 10)
  })

  it('has the duration from the creation in the log, which no stream carries', () => {
    const took = (talk: Transcript): unknown =>
      talk.items.flatMap((item) => (item.kind === 'ended' ? [item.tookMs] : []))[0]
    const dropped = log.slice(4)
    assert.equal(took(transcriptOf(task, dropped, 10, at)), 9_000)
    const sent = withPendingMessage(emptyTranscript, said('m1', 'A table'), Date.parse(at) - 60_000)
    assert.equal(took(applyEvents(sent, [fromStreamEvent({ task }, undefined)])), undefined)
  })

  it('has the times of the hub: those of a stream are in its statuses and in the log', () => {
    const update = { taskId: 't1', contextId: 'c1' }
    const live = applyEvents(emptyTranscript, [
      fromStreamEvent({ artifactUpdate: { ...update, artifact: { artifactId: 'a', parts: [{ text: 'x' }] } } }, 1),
      fromStreamEvent({ statusUpdate: { ...update, status: { state: 'TASK_STATE_COMPLETED', timestamp: at } } }, 2),
    ])
    assert.deepEqual(
      live.items.map((item) => [item.kind, item.at]),
      [
        ['made', undefined],
        ['ended', Date.parse(at)],
      ],
    )
  })

  it('marks where a turn began again after a crash', () => {
    const [first, , started] = log
    const rerun = { seq: 11, at, body: { type: 'turn-started', turn: 1, attempt: 2, consumedSeq: 1 } } as LoggedEvent
    const events = [first, started, rerun] as readonly LoggedEvent[]
    const talk = applyEvents(
      emptyTranscript,
      events.map(({ seq, body }) => ({ seq, at: 1, body: body as never })),
    )
    assert.deepEqual(textsOf(talk), ['said A table', 'rerun 2'])
  })

  it('is built from the task alone', () => {
    assert.deepEqual(textsOf(transcriptOf(task)), [
      'said A table',
      'said Which city?',
      'said Rome',
      'status Looking',
      'made Your table',
      'ended',
    ])
  })

  it('combines the task with a log that is shorter or newer', () => {
    const late = transcriptOf(task, log.slice(6), 10)
    assert.deepEqual(textsOf(late).toSorted(), textsOf(transcriptOf(task)).toSorted())
    const early = {
      ...task,
      status: { state: 'TASK_STATE_WORKING' as const },
      artifacts: [{ artifactId: 'answer', parts: [{ text: 'Your ' }] }],
    }
    const talk = transcriptOf(early, log, 7)
    assert.equal(textsOf(talk)[4], 'made Your table')
    assert.equal(talk.state, 'TASK_STATE_COMPLETED')
  })

  it('is the same from a stream, repeated, split anywhere, and resumed after a snapshot', () => {
    const stream = (events: readonly LoggedEvent[]): readonly TranscriptEvent[] =>
      events.flatMap(({ seq, body }): TranscriptEvent[] => {
        const update = { taskId: 't1', contextId: 'c1', ...body }
        const event =
          body['type'] === 'status'
            ? { statusUpdate: update }
            : body['type'] === 'artifact'
              ? { artifactUpdate: update }
              : undefined
        return event === undefined ? [] : [fromStreamEvent(event as unknown as StreamEvent, seq)]
      })
    const whole = transcriptOf(task, log, 10)
    for (let cut = 0; cut <= log.length; cut += 1) {
      const before = transcriptOf(
        { ...task, artifacts: [], history: [], status: { state: 'TASK_STATE_WORKING' } },
        log.slice(0, cut),
        undefined,
      )
      const known = { ...before, items: before.items.filter(({ kind }) => kind !== 'ended') }
      const after = applyEvents(known, stream(log))
      assert.equal(textsOf(after).filter((text) => text === 'made Your table').length, 1, `cut at ${cut}`)
      assert.deepEqual(applyEvents(after, stream(log)).items, after.items)
    }
    const snapshot: TranscriptEvent = {
      seq: 8,
      at: 1,
      body: { type: 'task', task: { ...task, status: { state: 'TASK_STATE_WORKING', timestamp: at } } },
    }
    const joined = applyEvents(transcriptOf(task, log.slice(0, 7), 7), [snapshot, ...stream(log)])
    assert.deepEqual(textsOf(joined), textsOf(whole))
  })

  it('joins five thousand chunks to one text, and keeps unchanged items', () => {
    const heard = logged(
      { type: 'artifact', artifact: { artifactId: 'other', parts: [{ text: 'other' }] }, lastChunk: true },
      ...Array.from({ length: 5_000 }, (_, index) => chunk(`${index} `, index === 0 ? {} : { append: true })),
    )
    const bodies = heard.map(({ seq, body }): TranscriptEvent => ({ seq, at: 1, body: body as never }))
    const first = applyEvents(emptyTranscript, bodies.slice(0, 100))
    const all = applyEvents(first, bodies.slice(100))
    assert.equal(textsOf(all)[1], `made ${Array.from({ length: 5_000 }, (_, index) => `${index} `).join('')}`)
    assert.equal(all.items[0], first.items[0])
  })

  it('replaces an artifact that a chunk does not append to, and keeps texts of other types apart', () => {
    const talk = applyEvents(emptyTranscript, [
      { seq: 1, at: 1, body: chunk('old', {}) as never },
      { seq: 2, at: 1, body: chunk('new', {}) as never },
      {
        seq: 3,
        at: 1,
        body: {
          type: 'artifact',
          append: true,
          artifact: { artifactId: 'answer', parts: [{ text: 'x', mediaType: 'text/x-c' }] },
        },
      },
    ])
    assert.deepEqual(textsOf(talk), ['made new|x'])
  })

  it('shows a pending message, then the logged one', () => {
    const pending = withPendingMessage(emptyTranscript, said('m1', '(not shown)'), 1)
    assert.equal(pending.items[0]?.kind === 'said' && pending.items[0].isPending, true)
    const snapshot = {
      ...task,
      history: [said('m1', '[redacted]')],
      artifacts: [],
      status: { state: 'TASK_STATE_SUBMITTED' as const },
    }
    const talk = applyEvents(pending, [{ seq: 2, at: 2, body: { type: 'task', task: snapshot } }])
    assert.deepEqual(textsOf(talk), ['said [redacted]'])
    assert.equal(talk.items[0]?.kind === 'said' && talk.items[0].isPending, false)
    assert.equal(talk.items[0]?.at, 1)
  })

  it('does not repeat an answered question', () => {
    const asked = {
      state: 'TASK_STATE_INPUT_REQUIRED' as const,
      timestamp: at,
      message: said('q1', 'Which city?', 'ROLE_AGENT'),
    }
    const waiting = { ...task, status: asked, history: [said('m1', 'A table')], artifacts: [] }
    assert.equal(transcriptOf(waiting).state, 'TASK_STATE_INPUT_REQUIRED')
    const answered = transcriptOf({
      ...waiting,
      history: [said('m1', 'A table'), said('q1', 'Which city?', 'ROLE_AGENT'), said('m2', 'Rome')],
    })
    assert.ok(isWorkingState(answered.state))
    assert.deepEqual(textsOf(answered), ['said A table', 'said Which city?', 'said Rome'])
  })

  it('shows the reason of a failure, and the message of a completed task as an answer', () => {
    const end = (state: TaskState) =>
      textsOf(transcriptOf({ id: 't', status: { state, message: said('e', 'so it is', 'ROLE_AGENT') } }))
    assert.deepEqual(end('TASK_STATE_FAILED'), ['ended so it is'])
    assert.deepEqual(end('TASK_STATE_COMPLETED'), ['said so it is', 'ended'])
  })

  it('shows a message without a task', () => {
    const talk = applyEvents(withPendingMessage(emptyTranscript, said('m1', 'Hi'), 1), [
      fromStreamEvent({ message: { ...said('a1', 'Hello', 'ROLE_AGENT'), contextId: 'c9' } }, undefined),
    ])
    assert.deepEqual(textsOf(talk), ['said Hi', 'said Hello'])
    assert.deepEqual([talk.taskId, talk.contextId], [undefined, 'c9'])
  })
})
