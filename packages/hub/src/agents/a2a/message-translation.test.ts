import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  credentialsExtension,
  cursorExtension,
  timestampsExtension,
  type AgentCard,
  type Artifact,
  type Report,
  type StreamEvent,
  type TaskState,
  type Turn,
} from '@parley/a2a'
import { traceExtension } from '@parley/a2a/internal'
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

function translatorFor(known: readonly Artifact[] = [], round = 1, lastSaid?: string) {
  const status = { state: 'TASK_STATE_WORKING', ...(lastSaid !== undefined ? { message: says(lastSaid) } : {}) }
  const turn = { artifacts: async () => known, resumed: { attempt: 2, reports: 0, task: { id: 't', status } } }
  const translator = createEventTranslator(turn as unknown as Turn, round)
  const translateAll = async (...events: readonly StreamEvent[]): Promise<readonly (Report | undefined)[]> => {
    const reports: (Report | undefined)[] = []
    for (const event of events) reports.push(await translator.translate(event, true))
    return reports
  }
  return { translator, translateAll }
}

describe('what a remote agent says, as reports', () => {
  it('keeps chunks as they are', async () => {
    const { translateAll } = translatorFor()
    assert.deepEqual(await translateAll(chunk('one'), chunk('two', { append: true, lastChunk: true })), [
      { artifact: { artifactId: 'a', parts: [{ text: 'one' }] } },
      { artifact: { artifactId: 'a', parts: [{ text: 'two' }] }, append: true, lastChunk: true },
    ])
  })

  it('starts an unknown artifact, and restarts a closed one with all its parts [B-100]', async () => {
    const { translateAll } = translatorFor([{ artifactId: 'a', name: 'A', parts: [{ text: 'one' }] }])
    assert.deepEqual(await translateAll(chunk('x', { append: true }, 'b')), [
      { artifact: { artifactId: 'b', parts: [{ text: 'x' }] } },
    ])
    assert.deepEqual((await translateAll(chunk('one', { lastChunk: true }), chunk('two', { append: true })))[1], {
      artifact: { artifactId: 'a', name: 'A', parts: [{ text: 'one' }, { text: 'two' }] },
    })
  })

  it('appends to what earlier turns, or the process before, began', async () => {
    const { translateAll } = translatorFor([{ artifactId: 'a', parts: [{ text: 'one' }] }])
    assert.deepEqual(await translateAll(chunk('two', { append: true })), [
      { artifact: { artifactId: 'a', parts: [{ text: 'two' }] }, append: true },
    ])
  })

  it('gives a chunk without parts an empty text', async () => {
    const { translateAll } = translatorFor()
    assert.deepEqual(await translateAll(chunk('', { lastChunk: true })), [
      { artifact: { artifactId: 'a', parts: [{ text: '' }] }, lastChunk: true },
    ])
  })

  it('keeps the artifacts of a second remote task apart from those of the first', async () => {
    const kept = [
      { artifactId: 'a', parts: [{ text: 'first' }] },
      { artifactId: 'a~2', parts: [{ text: 'second' }] },
    ]
    const { translator, translateAll } = translatorFor(kept, 2)
    assert.deepEqual(await translator.knownArtifacts(), {
      artifacts: [{ artifactId: 'a', parts: [{ text: 'second' }] }],
    })
    assert.deepEqual(await translateAll(chunk(' time', { append: true })), [
      { artifact: { artifactId: 'a~2', parts: [{ text: ' time' }] }, append: true },
    ])
    assert.deepEqual(await translatorFor(kept).translator.knownArtifacts(), { artifacts: kept })
  })

  it('says of a status that it is at work only where there are words to it', async () => {
    const { translateAll, translator } = translatorFor()
    const reports = await translateAll(
      moves('SUBMITTED'),
      moves('WORKING'),
      moves('UNSPECIFIED', 'hm'),
      moves('WORKING', 'on it'),
    )
    assert.deepEqual(reports, [
      undefined,
      undefined,
      { state: 'TASK_STATE_WORKING', message: { parts: [{ text: 'hm' }] } },
      { state: 'TASK_STATE_WORKING', message: { parts: [{ text: 'on it' }] } },
    ])
    assert.equal(translator.settledStatus, undefined)
  })

  it('does not say again what the log has, where the peer shows how things stand, and else whatever it says', async () => {
    const { translateAll, translator } = translatorFor([], 1, 'on it')
    translator.expectRepeat()
    assert.deepEqual(await translateAll(moves('WORKING', 'on it')), [undefined])
    assert.equal((await translateAll(moves('WORKING', 'on it')))[0] === undefined, false)
    translator.expectRepeat()
    assert.equal((await translateAll(moves('WORKING', 'further')))[0] === undefined, false)
  })

  it('does not count the message of the caller in a status as a text of the agent', async () => {
    const { translator, translateAll } = translatorFor()
    const message = { messageId: 'u', role: 'ROLE_USER', parts: [{ text: 'go' }] } as const
    await translateAll({ statusUpdate: { ...about, status: { state: 'TASK_STATE_WORKING', message } } })
    assert.equal(translator.lastStatusText, undefined)
    await translateAll(moves('WORKING', 'It is sunny'))
    assert.equal(translator.lastStatusText, 'It is sunny')
  })

  it('knows the end, with its words', async () => {
    for (const state of ['COMPLETED', 'FAILED', 'REJECTED', 'CANCELED', 'INPUT_REQUIRED', 'AUTH_REQUIRED']) {
      const { translateAll, translator } = translatorFor()
      const [report] = await translateAll(moves(state, 'so'))
      assert.deepEqual(report, { state: `TASK_STATE_${state}`, message: { parts: [{ text: 'so' }] } })
      assert.equal(translator.settledStatus?.state, `TASK_STATE_${state}`)
    }
  })

  it('is a reply where there is no task, and words on the way where there is one', async () => {
    const { translator } = translatorFor()
    const message = { message: says('hi') }
    assert.deepEqual(await translator.translate(message, false), { reply: { parts: [{ text: 'hi' }] } })
    assert.deepEqual(await translator.translate(message, true), {
      state: 'TASK_STATE_WORKING',
      message: { parts: [{ text: 'hi' }] },
    })
  })
})

const mood = 'https://example.com/mood'

describe('what is forwarded from one hop to the next', () => {
  it('is metadata, but not that of the connection itself', () => {
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
