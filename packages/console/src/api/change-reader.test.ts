import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createChangeReader } from './change-reader.ts'

const event = (name: string, data: object, id?: string): string =>
  `event: ${name}\ndata: ${JSON.stringify(data)}\n${id === undefined ? '' : `id: ${id}\n`}\n`
const ready = (instance: string): string => event('ready', { instance, version: '1' }, '0-0')

describe('the stream of changes', () => {
  it('has the changes, wherever the chunks are split', () => {
    const { read, startConnection } = createChangeReader()
    startConnection()
    const text = ready('a') + event('agent', { agent: 'echo' }) + ': awake\n\n' + event('tasks', { count: 3 }, '5-1')
    const changes = [...text].flatMap((letter) => read(letter))
    assert.deepEqual(changes, [
      { type: 'agent', agent: 'echo' },
      { type: 'tasks', count: 3 },
    ])
  })

  it('resumes after the last complete event', () => {
    const { read, startConnection, lastEventId } = createChangeReader()
    startConnection()
    read(ready('a') + event('config', {}, '7-2') + 'event: agent\ndata: {"agent":"ec')
    assert.equal(lastEventId(), '7-2')
    // The connection was cut: a partial event is discarded.
    startConnection()
    assert.deepEqual(read(ready('a') + event('agent', { agent: 'echo' }, '8-2')), [{ type: 'agent', agent: 'echo' }])
    assert.equal(lastEventId(), '8-2')
  })

  it('reports a configuration change only after a restart of the hub', () => {
    const { read, startConnection, hub } = createChangeReader()
    for (const [instance, changes] of [
      ['a', []],
      ['a', []],
      ['b', [{ type: 'config' }]],
    ] as const) {
      startConnection()
      assert.deepEqual(read(ready(instance)), changes)
      assert.equal(hub()?.instance, instance)
    }
  })

  it('ignores unknown events', () => {
    const { read } = createChangeReader()
    assert.deepEqual(read(event('weather', { rain: true }, '9-9')), [])
  })

  it('resumes from the cursor of the event, not of the ready event before it', () => {
    const { read, startConnection, lastEventId } = createChangeReader()
    startConnection()
    read(event('ready', { instance: 'a', version: '1' }))
    assert.equal(lastEventId(), '')
    read(event('reset', {}, '3-3'))
    assert.equal(lastEventId(), '3-3')
  })
})
