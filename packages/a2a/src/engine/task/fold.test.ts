import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LogRecord, RecordBody } from '../../model/record.ts'
import type { TaskState } from '../../model/state.ts'
import type { Json, Artifact, Message, Part } from '../../model/task.ts'
import { emptyFold, foldRecord, foldFromSnapshot, snapshotOf, taskView, withHistory, type TaskFold } from './fold.ts'

const message = (text: string, role: Message['role'] = 'ROLE_USER'): Message => ({
  messageId: text,
  role,
  parts: [{ text }],
})

const said = (text: string): RecordBody => ({ type: 'message', message: message(text) })
const status = (state: string, text?: string): RecordBody => ({
  type: 'status',
  status: {
    state: `TASK_STATE_${state}` as TaskState,
    ...(text !== undefined ? { message: message(text, 'ROLE_AGENT') } : {}),
  },
})
const turn = (number: number, consumedSeq: number, attempt = 1): RecordBody => ({
  type: 'turn-started',
  turn: number,
  attempt,
  consumedSeq,
})
const chunk = (
  parts: readonly Part[],
  more: Partial<Artifact> & { append?: boolean; lastChunk?: boolean } = {},
): RecordBody => {
  const { append, lastChunk, ...artifact } = more
  return {
    type: 'artifact',
    artifact: { artifactId: 'a', parts, ...artifact },
    ...(append === true ? { append } : {}),
    ...(lastChunk === true ? { lastChunk } : {}),
  }
}
const text = (words: string, more?: Parameters<typeof chunk>[1]): RecordBody => chunk([{ text: words }], more)

function foldOf(bodies: readonly RecordBody[], coalesceText = true): TaskFold {
  const into = emptyFold('t', 'c', { state: 'TASK_STATE_SUBMITTED' })
  bodies.forEach((body, index) => foldRecord(into, recordOf(body, index + 1), coalesceText))
  return into
}
const recordOf = (body: RecordBody, seq: number): LogRecord => ({ seq, at: seq * 1_000, body })
const historyOf = (of: TaskFold): readonly string[] => of.history.map(({ messageId }) => messageId)
const partsOf = (of: TaskFold, id = 'a'): readonly Part[] | undefined => of.artifacts.get(id)?.parts

const conversation: readonly RecordBody[] = [
  said('Book a flight'),
  status('SUBMITTED'),
  turn(1, 1),
  status('WORKING', 'Looking'),
  text('found', { name: 'list' }),
  text(' three', { append: true, lastChunk: true, metadata: { rows: 3 } }),
  status('INPUT_REQUIRED', 'Which one?'),
  said('The second'),
  turn(2, 8),
  status('WORKING'),
  { type: 'question', questionId: 'q1', turn: 2 },
  status('INPUT_REQUIRED', 'Sure?'),
  said('Yes'),
  { type: 'answer', questionId: 'q1', messageSeq: 13 },
  status('WORKING'),
  { type: 'checkpoint', data: { booking: 7 } },
  said('And a hotel'),
  status('WORKING', 'Booked'),
]

describe('the fold of a log', () => {
  it('puts a question before its answer in the history [B-47]', () => {
    assert.deepEqual(historyOf(foldOf(conversation)), [
      'Book a flight',
      'Looking',
      'Which one?',
      'The second',
      'Sure?',
      'Yes',
      'And a hotel',
    ])
  })

  it('moves a replaced status message to the history, once, and omits the current one [B-47]', () => {
    const working = foldOf([said('hi'), status('WORKING', 'one'), status('WORKING', 'two')])
    assert.deepEqual(historyOf(working), ['hi', 'one'])
    assert.equal(taskView(working).status.message?.messageId, 'two')
    const ended = foldOf([said('hi'), status('WORKING', 'one'), status('WORKING'), status('COMPLETED', 'done')])
    assert.deepEqual(historyOf(ended), ['hi', 'one'])
  })

  it('counts every record, and keeps which one set the status', () => {
    const of = foldOf(conversation)
    assert.equal(of.head, conversation.length)
    assert.equal(of.statusSeq, 18)
  })

  it('keeps which messages wait, and which one started a turn', () => {
    const of = foldOf(conversation)
    assert.deepEqual(
      of.waiting.map(({ seq }) => seq),
      [17],
    )
    assert.equal(of.consumedSeq, 13)
    assert.equal(of.current?.seq, 8, 'an answer in the middle of a turn is not what it began with')
  })

  it('drops the waiting messages that a turn dropped', () => {
    const of = foldOf([said('a'), turn(1, 1), said('b'), said('c'), { type: 'turn-ended', turn: 1, consumedSeq: 4 }])
    assert.equal(of.waiting.length, 0)
    assert.equal(of.running, false)
  })

  it('gives each turn its own questions and checkpoint, also when it is run again', () => {
    const asked: readonly RecordBody[] = [
      said('a'),
      turn(1, 1),
      { type: 'checkpoint', data: 1 },
      { type: 'question', questionId: 'q', turn: 1 },
    ]
    const again = foldOf([...asked, turn(1, 1, 2)])
    assert.deepEqual(again.questions, [{ id: 'q' }])
    assert.equal(again.checkpoint, 1)
    assert.equal(again.current?.seq, 1)
    const next = foldOf([...asked, said('b'), turn(2, 5)])
    assert.deepEqual(next.questions, [])
    assert.equal(next.checkpoint, undefined)
  })

  it('counts the output of a turn since its last checkpoint, also across a restart', () => {
    const begun: readonly RecordBody[] = [said('a'), turn(1, 1), status('WORKING'), { type: 'checkpoint', data: 1 }]
    const chunk: RecordBody = { type: 'artifact', artifact: { artifactId: 'x', parts: [{ text: 'x' }] } }
    assert.equal(foldOf([...begun, chunk, status('WORKING', 'two'), said('b'), chunk]).reports, 3)
    assert.equal(foldOf([...begun, chunk, turn(1, 1, 2), chunk]).reports, 2)
    assert.equal(foldOf([...begun, chunk, { type: 'checkpoint', data: 2 }]).reports, 0)
    assert.equal(foldOf([...begun, chunk, said('b'), turn(2, 6), chunk]).reports, 1)
  })

  it('tracks a turn that began without a message because of an input timeout [S2-16]', () => {
    const of = foldOf([said('a'), turn(1, 1), status('INPUT_REQUIRED', '?'), turn(2, 1)])
    assert.equal(of.current, undefined)
    const unanswered = foldOf([
      said('a'),
      turn(1, 1),
      { type: 'question', questionId: 'q', turn: 1 },
      { type: 'answer', questionId: 'q', messageSeq: 0 },
    ])
    assert.deepEqual(unanswered.questions[0]?.answer?.metadata, { reason: 'INPUT_TIMEOUT' })
    assert.equal(unanswered.consumedSeq, 1)
  })
})

describe('the fold of artifacts', () => {
  it('appends parts, replaces name and description, merges metadata and unites extensions [B-100]', () => {
    const of = foldOf([
      text('a', { name: 'old', description: 'kept', metadata: { x: 1, y: 1 }, extensions: ['e1'] }),
      chunk([{ data: 1 }], { append: true, name: 'new', metadata: { y: 2, z: 3 }, extensions: ['e1', 'e2'] }),
    ])
    assert.deepEqual(taskView(of).artifacts, [
      {
        artifactId: 'a',
        name: 'new',
        description: 'kept',
        parts: [{ text: 'a' }, { data: 1 }],
        metadata: { x: 1, y: 2, z: 3 },
        extensions: ['e1', 'e2'],
      },
    ])
  })

  it('restarts an artifact without append, and keeps nothing of the old one [B-100]', () => {
    const of = foldOf([text('old', { name: 'n', metadata: { x: 1 } }), text('other', { artifactId: 'b' }), text('new')])
    assert.deepEqual(taskView(of).artifacts, [
      { artifactId: 'a', parts: [{ text: 'new' }] },
      { artifactId: 'b', parts: [{ text: 'other' }] },
    ])
  })

  it('seals an artifact with its last chunk, until it is restarted [B-100]', () => {
    const sealed = foldOf([text('a'), text('b', { append: true, lastChunk: true })])
    assert.equal(sealed.sealed.has('a'), true)
    const anew = foldOf([text('a', { lastChunk: true }), text('b')])
    assert.equal(anew.sealed.has('a'), false)
  })

  it('joins appended text that is only text', () => {
    assert.deepEqual(partsOf(foldOf([text('a'), text('b', { append: true }), text('c', { append: true })])), [
      { text: 'abc' },
    ])
    assert.deepEqual(partsOf(foldOf([chunk([{ text: 'a' }, { text: 'b' }])])), [{ text: 'a' }, { text: 'b' }])
    for (const carrying of [{ mediaType: 'text/x' }, { filename: 'f' }, { metadata: { m: 1 } }]) {
      const apart = foldOf([
        text('a'),
        chunk([{ text: 'b', ...carrying }], { append: true }),
        text('c', { append: true }),
      ])
      assert.deepEqual(partsOf(apart), [{ text: 'a' }, { text: 'b', ...carrying }, { text: 'c' }])
    }
  })

  it('keeps chunks apart if configured', () => {
    assert.deepEqual(partsOf(foldOf([text('a'), text('b', { append: true })], false)), [{ text: 'a' }, { text: 'b' }])
  })

  it('takes as much work for the 16,000th chunk as for the second', () => {
    const into = foldOf([said('hi'), text('word ')])
    let touched = 0
    // Everything that a chunk makes the fold walk or copy is read through one of these proxies.
    function counting<T extends object>(of: T): T {
      return new Proxy(of, {
        get(target, name) {
          touched += 1
          const member: unknown = Reflect.get(target, name)
          return typeof member === 'function' ? (member.bind(target) as unknown) : member
        },
      })
    }
    const artifact = into.artifacts.get('a')
    assert.ok(artifact !== undefined)
    artifact.parts = counting(artifact.parts)
    Object.assign(into, { history: counting(into.history), artifacts: counting(into.artifacts) })
    const costs: number[] = []
    for (let seq = 3; seq <= 16_002; seq += 1) {
      const before = touched
      foldRecord(into, recordOf(text('word ', { append: true }), seq))
      costs.push(touched - before)
    }
    assert.ok((costs[0] as number) > 0)
    assert.deepEqual([...new Set(costs)], [costs[0]])
    assert.deepEqual(partsOf(into)?.[0], { text: 'word '.repeat(16_001) })
  })
})

describe('a snapshot', () => {
  it('loses nothing: folding more records on top of it equals folding everything', () => {
    for (let at = 0; at <= conversation.length; at += 1) {
      const early = foldOf(conversation.slice(0, at))
      const kept = JSON.parse(JSON.stringify(snapshotOf(early))) as ReturnType<typeof snapshotOf>
      const resumed = foldFromSnapshot(kept)
      conversation.slice(at).forEach((body, index) => foldRecord(resumed, recordOf(body, at + index + 1)))
      const whole = foldOf(conversation)
      taskView(resumed)
      taskView(whole)
      assert.deepEqual(resumed, whole, `with a snapshot after ${at} records`)
    }
  })

  it('holds what the agent stored, and nothing that it deleted', () => {
    const stored = (key: string, value?: Json): RecordBody => ({
      type: 'stored',
      key,
      ...(value !== undefined ? { value } : {}),
    })
    const of = foldOf([stored('a', 1), stored('b', null), stored('a', 2), stored('c', 3), stored('c')])
    const kept = JSON.parse(JSON.stringify(snapshotOf(of))) as ReturnType<typeof snapshotOf>
    assert.deepEqual([...(foldFromSnapshot(kept).stored ?? [])], Object.entries({ a: 2, b: null }))
    assert.equal(JSON.stringify(kept.task).includes('stored'), false)
    assert.ok(of.storedBytes > 0)
    assert.equal(foldFromSnapshot(kept).storedBytes, of.storedBytes)
  })

  it('stays unchanged while the task continues', () => {
    const of = foldOf(conversation.slice(0, 12))
    const snapshot = snapshotOf(of)
    const before = structuredClone(snapshot)
    conversation.slice(12).forEach((body, index) => foldRecord(of, recordOf(body, 13 + index)))
    foldRecord(foldFromSnapshot(snapshot), recordOf({ type: 'question', questionId: 'other', turn: 2 }, 13))
    assert.deepEqual(snapshot, before)
  })
})

describe('the view of a task', () => {
  it('is one object until something changes, and is not changed later', () => {
    const of = foldOf(conversation)
    const view = taskView(of)
    assert.equal(taskView(of), view)
    const before = structuredClone(view)
    foldRecord(of, recordOf(text('more', { append: true }), 19))
    foldRecord(of, recordOf(said('more'), 20))
    assert.deepEqual(view, before)
    assert.notEqual(taskView(of), view)
  })

  it('has at most the requested number of newest messages, none for 0, and keeps all of them [B-73 B-76]', () => {
    const view = taskView(foldOf(conversation))
    assert.deepEqual(
      withHistory(view, 2).history?.map(({ messageId }) => messageId),
      ['Yes', 'And a hotel'],
    )
    assert.equal('history' in withHistory(view, 0), false)
    assert.equal(withHistory(view, 100), view)
    assert.equal(withHistory(view, undefined), view)
    assert.deepEqual(withHistory(view, 0).artifacts, view.artifacts)
    assert.equal(view.history?.length, 7)
  })
})
