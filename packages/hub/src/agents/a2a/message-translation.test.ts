import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { credentialsExtension, cursorExtension, timestampsExtension, traceExtension } from '@parley/a2a'
import type { AgentCard, Artifact, Report, StreamEvent, TaskState, Turn } from '@parley/a2a'
import {
  createEventTranslator,
  forwardedExtensions,
  forwardedMetadata,
  requestedExtensions,
} from './message-translation.ts'

const about = { taskId: 'r1', contextId: 'rc' }
const says = (text: string) => ({ messageId: 'm', role: 'ROLE_AGENT', parts: [{ text }] }) as const
const moves = (state: string, text?: string): StreamEvent => ({
  statusUpdate: {
    ...about,
    status: { state: `TASK_STATE_${state}` as TaskState, ...(text !== undefined ? { message: says(text) } : {}) },
  },
})
const chunk = (text: string, more: object = {}, artifactId = 'a'): StreamEvent => ({
  artifactUpdate: { ...about, artifact: { artifactId, parts: text === '' ? [] : [{ text }] }, ...more },
})

function tellerOf(known: readonly Artifact[] = [], round = 1, lastSaid?: string) {
  const status = { state: 'TASK_STATE_WORKING', ...(lastSaid !== undefined ? { message: says(lastSaid) } : {}) }
  const turn = { artifacts: async () => known, resumed: { attempt: 2, reports: 0, task: { id: 't', status } } }
  const teller = createEventTranslator(turn as unknown as Turn, round)
  const tellAll = async (...events: readonly StreamEvent[]): Promise<readonly (Report | undefined)[]> => {
    const told: (Report | undefined)[] = []
    for (const event of events) told.push(await teller.translate(event, true))
    return told
  }
  return { teller, tellAll }
}

describe('what a remote agent says, as reports', () => {
  it('keeps chunks as they are', async () => {
    const { tellAll } = tellerOf()
    assert.deepEqual(await tellAll(chunk('one'), chunk('two', { append: true, lastChunk: true })), [
      { artifact: { artifactId: 'a', parts: [{ text: 'one' }] } },
      { artifact: { artifactId: 'a', parts: [{ text: 'two' }] }, append: true, lastChunk: true },
    ])
  })

  it('starts an unknown artifact, and restarts a closed one with all its parts [B-100]', async () => {
    const { tellAll } = tellerOf([{ artifactId: 'a', name: 'A', parts: [{ text: 'one' }] }])
    assert.deepEqual(await tellAll(chunk('x', { append: true }, 'b')), [
      { artifact: { artifactId: 'b', parts: [{ text: 'x' }] } },
    ])
    assert.deepEqual((await tellAll(chunk('one', { lastChunk: true }), chunk('two', { append: true })))[1], {
      artifact: { artifactId: 'a', name: 'A', parts: [{ text: 'one' }, { text: 'two' }] },
    })
  })

  it('appends to what earlier turns, or the process before, began', async () => {
    const { tellAll } = tellerOf([{ artifactId: 'a', parts: [{ text: 'one' }] }])
    assert.deepEqual(await tellAll(chunk('two', { append: true })), [
      { artifact: { artifactId: 'a', parts: [{ text: 'two' }] }, append: true },
    ])
  })

  it('gives a chunk without parts an empty text', async () => {
    const { tellAll } = tellerOf()
    assert.deepEqual(await tellAll(chunk('', { lastChunk: true })), [
      { artifact: { artifactId: 'a', parts: [{ text: '' }] }, lastChunk: true },
    ])
  })

  it('keeps the artifacts of a second remote task apart from those of the first', async () => {
    const kept = [
      { artifactId: 'a', parts: [{ text: 'first' }] },
      { artifactId: 'a~2', parts: [{ text: 'second' }] },
    ]
    const { teller, tellAll } = tellerOf(kept, 2)
    assert.deepEqual(await teller.knownArtifacts(), { artifacts: [{ artifactId: 'a', parts: [{ text: 'second' }] }] })
    assert.deepEqual(await tellAll(chunk(' time', { append: true })), [
      { artifact: { artifactId: 'a~2', parts: [{ text: ' time' }] }, append: true },
    ])
    assert.deepEqual(await tellerOf(kept).teller.knownArtifacts(), { artifacts: kept })
  })

  it('says of a status that it is at work only where there are words to it', async () => {
    const { tellAll, teller } = tellerOf()
    const told = await tellAll(
      moves('SUBMITTED'),
      moves('WORKING'),
      moves('UNSPECIFIED', 'hm'),
      moves('WORKING', 'on it'),
    )
    assert.deepEqual(told, [
      undefined,
      undefined,
      { state: 'TASK_STATE_WORKING', message: { parts: [{ text: 'hm' }] } },
      { state: 'TASK_STATE_WORKING', message: { parts: [{ text: 'on it' }] } },
    ])
    assert.equal(teller.settledStatus, undefined)
  })

  it('does not say again what the log has, where the peer shows how things stand, and else whatever it says', async () => {
    const { tellAll, teller } = tellerOf([], 1, 'on it')
    teller.expectRepeat()
    assert.deepEqual(await tellAll(moves('WORKING', 'on it')), [undefined])
    assert.equal((await tellAll(moves('WORKING', 'on it')))[0] === undefined, false)
    teller.expectRepeat()
    assert.equal((await tellAll(moves('WORKING', 'further')))[0] === undefined, false)
  })

  it('knows the end, with its words', async () => {
    for (const state of ['COMPLETED', 'FAILED', 'REJECTED', 'CANCELED', 'INPUT_REQUIRED', 'AUTH_REQUIRED']) {
      const { tellAll, teller } = tellerOf()
      const [report] = await tellAll(moves(state, 'so'))
      assert.deepEqual(report, { state: `TASK_STATE_${state}`, message: { parts: [{ text: 'so' }] } })
      assert.equal(teller.settledStatus?.state, `TASK_STATE_${state}`)
    }
  })

  it('is a reply where there is no task, and words on the way where there is one', async () => {
    const { teller } = tellerOf()
    const message = { message: says('hi') }
    assert.deepEqual(await teller.translate(message, false), { reply: { parts: [{ text: 'hi' }] } })
    assert.deepEqual(await teller.translate(message, true), {
      state: 'TASK_STATE_WORKING',
      message: { parts: [{ text: 'hi' }] },
    })
  })
})

const mood = 'https://example.com/mood'

describe('what is forwarded from one hop to the next', () => {
  it('is metadata, but not what tells of the line itself', () => {
    const ofTheLine = { [cursorExtension]: { cursor: '1' }, [timestampsExtension]: { at: 'x' }, [traceExtension]: {} }
    assert.equal(forwardedMetadata({ ...ofTheLine, traceId: 'x', spanId: 'y' }), undefined)
    assert.deepEqual(
      forwardedMetadata({ ...ofTheLine, traceId: 'x', [credentialsExtension]: { type: 'credentials' } }),
      {
        [credentialsExtension]: { type: 'credentials' },
      },
    )
    assert.deepEqual(forwardedMetadata({ traceId: 'of another peer' }), { traceId: 'of another peer' })
    assert.equal(forwardedMetadata(undefined), undefined)
  })

  it('are the extensions of a message, but for those of the line', () => {
    assert.deepEqual(forwardedExtensions([mood, cursorExtension]), [mood])
    assert.deepEqual(forwardedExtensions(undefined), [])
  })

  it('are the extensions that both ends know [B-142]', () => {
    const cardOf = (...extensions: readonly { uri: string; required?: boolean }[]) =>
      ({ capabilities: { extensions } }) as unknown as AgentCard
    const turn = { extensions: [mood], message: { extensions: [credentialsExtension, cursorExtension] } }
    const all = cardOf({ uri: mood }, { uri: credentialsExtension }, { uri: cursorExtension }, { uri: 'urn:x' })
    assert.deepEqual(requestedExtensions(all, turn, []), [mood, credentialsExtension])
    assert.deepEqual(requestedExtensions(cardOf(), turn, [mood]), [])
    const strict = cardOf({ uri: 'urn:x', required: true })
    assert.deepEqual(requestedExtensions(strict, turn, []), [])
    assert.deepEqual(requestedExtensions(strict, turn, ['urn:x']), ['urn:x'])
  })
})
