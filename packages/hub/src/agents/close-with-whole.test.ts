import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import type { Agent, Report, StreamEvent } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'
import { closeWithWhole } from './close-with-whole.ts'

type Chunk = readonly [artifactId: string, text: string, how: 'append' | 'replace', last: boolean]

function chunksIn(events: readonly StreamEvent[]): readonly Chunk[] {
  return events.flatMap((event): Chunk[] => {
    if (!('artifactUpdate' in event)) return []
    const { artifact, append, lastChunk } = event.artifactUpdate
    const text = artifact.parts.map((part) => ('text' in part ? part.text : JSON.stringify(part))).join('')
    return [[artifact.artifactId, text, append === true ? 'append' : 'replace', lastChunk === true]]
  })
}

/** What a caller gets of an agent with these reports. */
async function stream(t: TestContext, reports: readonly Report[], returned?: Report): Promise<readonly Chunk[]> {
  const agent = testAgent(
    closeWithWhole(async function* () {
      yield* reports
      return returned
    } as Agent),
  )
  t.after(() => agent.close())
  const events = await agent.stream('go').all()
  const last = events.at(-1)
  assert.ok(last !== undefined && 'statusUpdate' in last)
  assert.equal(last.statusUpdate.status.state, 'TASK_STATE_COMPLETED')
  return chunksIn(events)
}

const chunk = (text: string, more: object = {}, artifactId = 'a'): Report => ({
  artifact: { artifactId, name: 'Report', parts: [{ text }] },
  ...more,
})

describe('an agent with closeWithWhole', () => {
  it('ends a streamed text with one update that replaces it by the whole text', async (t) => {
    const whole: Chunk = ['answer', 'one two three', 'replace', true]
    const pieces: readonly Chunk[] = [
      ['answer', 'one ', 'replace', false],
      ['answer', 'two ', 'append', false],
      ['answer', 'three', 'append', false],
    ]
    assert.deepEqual(await stream(t, ['one ', 'two ', 'three']), [...pieces, whole])
    assert.deepEqual(await stream(t, ['one ', 'two '], 'three'), [...pieces, whole])
    assert.deepEqual(await stream(t, ['one ', 'two ', 'three', { state: 'TASK_STATE_COMPLETED' }]), [...pieces, whole])
  })

  it('replaces the last chunk of an artifact, and closes an artifact that the agent leaves open', async (t) => {
    const reports = [chunk('one '), chunk('two', { append: true, lastChunk: true })]
    assert.deepEqual(await stream(t, reports), [
      ['a', 'one ', 'replace', false],
      ['a', 'one two', 'replace', true],
    ])
    assert.deepEqual(await stream(t, [chunk('one '), chunk('two', { append: true })]), [
      ['a', 'one ', 'replace', false],
      ['a', 'two', 'append', false],
      ['a', 'one two', 'replace', true],
    ])
  })

  it('leaves artifacts of one chunk, artifacts with other parts and long texts as they are', async (t) => {
    const long = 'x'.repeat(600_000)
    for (const reports of [
      [chunk('one', { lastChunk: true })],
      [chunk('one')],
      [{ artifact: { artifactId: 'd', parts: [{ data: { rows: 1 } }] } }, chunk('one', { append: true }, 'd')],
      [chunk(long), chunk(long, { append: true, lastChunk: true })],
    ] as const) {
      const [first, ...rest] = await stream(t, reports)
      assert.equal(first?.[2], 'replace')
      assert.ok(rest.every(([, , how]) => how === 'append'))
      assert.equal(rest.length, reports.length - 1)
    }
  })
})
