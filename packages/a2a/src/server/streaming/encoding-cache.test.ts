import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StreamItem } from '../../engine/contract.ts'
import { cursorExtension, timestampsExtension } from '../../model/extension.ts'
import type { StreamEvent, Task } from '../../model/task.ts'
import { versions } from '../../versions/index.ts'
import type { Dialect } from '../../versions/version.ts'
import { eventDecoratorFor } from '../extensions/apply-extensions.ts'
import { cursor, timestamps } from '../extensions/builtin-extensions.ts'
import { createAgentRegistry } from '../agents/registered-agents.ts'
import { createEncodingCache } from './encoding-cache.ts'

const task: Task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } }
const event: StreamEvent = { statusUpdate: { taskId: 't', contextId: 'c', status: task.status, metadata: { own: 1 } } }

function counting(dialect: Dialect): Dialect & { encoded: number } {
  const counted = {
    ...dialect,
    encoded: 0,
    writeEvent(given: StreamEvent) {
      counted.encoded += 1
      return dialect.writeEvent(given)
    },
    writeResult: ((...args: Parameters<Dialect['writeResult']>) => {
      counted.encoded += 1
      return dialect.writeResult(...args)
    }) as Dialect['writeResult'],
  }
  return counted
}

describe('shared bytes', () => {
  it('are encoded once per dialect, for events and for tasks', () => {
    const bytes = createEncodingCache()
    const dialects = versions.map(({ json }) => counting(json))
    for (let reader = 0; reader < 3; reader++) {
      for (const dialect of dialects) {
        assert.equal(bytes.event(dialect, event), JSON.stringify(dialect.writeEvent(event)))
        assert.equal(bytes.task(dialect, task), JSON.stringify(dialect.writeResult('GetTask', task)))
      }
    }
    // Three readers compared three times each, and encoded two themselves.
    assert.deepEqual(
      dialects.map(({ encoded }) => encoded - 3 * 2),
      [2, 2, 2],
    )
  })

  it('of a large event are written once for all readers that ask meanwhile', async () => {
    const bytes = createEncodingCache()
    const [dialect, other] = versions.map(({ json }) => counting(json)) as [ReturnType<typeof counting>, Dialect]
    const large: StreamEvent = {
      artifactUpdate: {
        taskId: 't',
        contextId: 'c',
        artifact: { artifactId: 'a', parts: [{ text: 'x'.repeat(600_000) }] },
      },
    }
    let isBegun = false
    const gate = Promise.withResolvers<void>()
    const nextStep = (): Promise<void> => {
      isBegun = true
      return gate.promise
    }
    const prepared = Array.from({ length: 3 }, () => bytes.prepareEvent(dialect, large, nextStep))
    const inOther = bytes.prepareEvent(other, large, nextStep)
    assert.deepEqual([isBegun, bytes.cachedEvent(dialect, large)], [true, undefined])
    gate.resolve()
    await Promise.all([...prepared, inOther])
    assert.equal(dialect.encoded, 1)
    for (const one of [dialect, other]) {
      assert.equal(Buffer.from(bytes.event(one, large) as Uint8Array).toString(), JSON.stringify(one.writeEvent(large)))
    }
  })
})

describe('the cursor metadata', () => {
  const { defaultAgent } = createAgentRegistry({
    agent: () => 'x',
    extensions: [cursor(), timestamps(), { uri: 'urn:silent' }],
  })
  const { decorate: withCursor } = eventDecoratorFor([cursorExtension], defaultAgent)!
  const item = (over: Partial<StreamItem> = {}): StreamItem => ({ event, seq: 4, final: false, ...over })

  it('is shared, keeps the metadata, and is created again for another position', () => {
    const marked = withCursor(item())
    assert.equal(withCursor(item()), marked)
    assert.deepEqual((marked as typeof event).statusUpdate.metadata, { own: 1, [cursorExtension]: { cursor: '4' } })
    assert.notEqual(withCursor(item({ seq: 5 })), marked)
    assert.deepEqual(event.statusUpdate.metadata, { own: 1 })
  })

  it('reports missing events', () => {
    const marked = withCursor(item({ event: { task }, gap: true }))
    assert.deepEqual('task' in marked && marked.task.metadata, { [cursorExtension]: { cursor: '4', gap: true } })
  })

  it('is encoded once for each set of requested extensions, in any order [B-143]', () => {
    const bytes = createEncodingCache()
    const dialect = counting(versions[0]!.json)
    const both = [cursorExtension, timestampsExtension]
    const decorations = [both, both.toReversed(), ['urn:silent', ...both]].map((active) =>
      eventDecoratorFor(active, defaultAgent)!,
    )
    const texts = decorations.map(({ decorate }) => bytes.event(dialect, decorate(item({ at: 0 }))))
    assert.deepEqual([new Set(texts).size, dialect.encoded], [1, 1])
    assert.equal(new Set(decorations.map(({ key }) => key)).size, 1)
    assert.notEqual(bytes.event(dialect, withCursor(item())), texts[0])
  })

  it('costs nothing if no extension with output is requested', () => {
    assert.equal(eventDecoratorFor([], defaultAgent), undefined)
    assert.equal(eventDecoratorFor(['urn:silent'], defaultAgent), undefined)
  })

  it('is omitted for events without a position in a log', () => {
    const { seq: _, ...bare } = item()
    assert.equal(withCursor(bare), event)
  })
})
