import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { EndedCall } from '@parley/a2a/server'
import { createObserver } from './observer.ts'

const call: EndedCall = {
  ...{ method: 'POST', path: '/a2a/gpt', query: '', header: () => undefined, agent: 'gpt', endpoint: 'call' },
  ...{ binding: 'JSONRPC', outcome: 'UNAUTHENTICATED', status: 401, durationMs: 1 },
}

function open() {
  const errors: string[] = []
  const log = { error: (message: string) => void errors.push(message) }
  return { errors, observer: createObserver({ hasAgent: (name) => name === 'gpt', log }) }
}

describe('the observer', () => {
  it('reports to all listeners, whatever one of them throws: the audit misses nothing', () => {
    const { errors, observer } = open()
    const audited: string[] = []
    observer.follow('call', () => {
      throw new Error('broken')
    })
    observer.follow('call', ({ call: { outcome } }) => void audited.push(outcome))
    observer.onOutcome(call)
    assert.deepEqual([audited, errors], [['UNAUTHENTICATED'], ['an event was not counted']])
  })

  it('has no name of an agent that does not exist', () => {
    const { observer } = open()
    const agents: string[] = []
    observer.follow('call', ({ agent }) => void agents.push(agent))
    observer.onOutcome(call)
    observer.onOutcome({ ...call, agent: 'guess' })
    assert.deepEqual(agents, ['gpt', '-'])
  })

  it('reports states of tasks, and every event as a write, until a listener stops', () => {
    const { observer } = open()
    const reported: string[] = []
    const about = { agent: 'gpt', tenant: '', owner: 'ann', taskId: 't', contextId: 'c', seq: 1 }
    observer.follow('task', ({ state }) => void reported.push(state))
    const stop = observer.follow('write', () => void reported.push('write'))
    const status = { state: 'TASK_STATE_COMPLETED' as const }
    observer.onEvent({ statusUpdate: { taskId: 't', contextId: 'c', status } }, about)
    observer.onEvent(
      { artifactUpdate: { taskId: 't', contextId: 'c', artifact: { artifactId: 'a', parts: [] } } },
      about,
    )
    stop()
    observer.observe('write', undefined)
    assert.deepEqual(reported, ['TASK_STATE_COMPLETED', 'write', 'write'])
  })
})
