import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Agent, Health } from '../../../api/admin.ts'
import { findingsOf } from './findings.ts'

const well = {
  status: 'ok',
  store: { name: 'sqlite', isReady: true, latencyMs: 1 },
  push: { isOn: true, dead: 0, behind: 0, due: 0 },
  readers: { unsentBytes: 0, paused: 0, feed: [] },
  auditExports: [],
} as unknown as Health
const agent = (name: string, more: object = {}): Agent =>
  ({ name, status: { state: 'up' }, health: { breaker: 'closed' }, ...more }) as unknown as Agent
const minute = (requests: number, errors: number) => ({ requests, errors })

describe('the findings of the health page', () => {
  it('are empty on a healthy hub', () => {
    assert.deepEqual(findingsOf(well, [agent('a')], [minute(10, 0)]), [])
  })

  it('have the worst first, each with the next step', () => {
    const health = {
      ...well,
      store: { ...well.store, isReady: false, trouble: 'disk full' },
      configRejection: { since: '2030-01-31T12:00:00.000Z', problem: 'parley.yaml:2  agents.a: unknown setting' },
      push: { isOn: true, dead: 2, behind: 0, due: 0 },
    }
    const agents = [
      agent('slow', { status: { state: 'slow', reason: 'it is slow' } }),
      agent('down', { status: { state: 'down', reason: 'refused' }, lastError: { text: 'no' } }),
      agent('closed', { status: { state: 'unavailable', reason: 'no key' } }),
      agent('other', { drift: 'changed', status: { state: 'up', reason: 'its card has changed' } }),
      agent('held', { drift: 'blocked', status: { state: 'blocked', reason: 'its card has changed' } }),
      agent('flaky', { status: { state: 'failing', reason: '6 of 9 tasks failed' } }),
    ]
    const found = findingsOf(health, agents, [minute(100, 1)])
    assert.deepEqual(
      found.map(({ grade, title }) => `${grade}: ${title}`),
      [
        'bad: The store is not responding',
        'bad: The configuration file is not applied',
        'bad: down is not responding',
        'bad: closed failed to start',
        'bad: held is blocked: its card has changed',
        'bad: Tasks of flaky fail',
        'odd: slow is slow',
        'odd: The card of other has changed',
        'odd: 1 of 100 requests failed in the last 5 minutes',
        'odd: 2 webhooks are undeliverable',
      ],
    )
    assert.equal(found[0]?.why, 'disk full')
    assert.deepEqual(
      found[2]?.links.map(({ href }) => href),
      ['/agents/down', '/tasks?agent=down&state=TASK_STATE_FAILED'],
    )
    assert.equal(new Set(found.map(({ id }) => id)).size, found.length)
  })

  it('are worse with more errors, and none after old ones', () => {
    assert.equal(findingsOf(well, [], [minute(20, 1)])[0]?.grade, 'bad')
    assert.deepEqual(findingsOf(well, [], [minute(20, 20), ...Array.from({ length: 5 }, () => minute(1, 0))]), [])
  })
})
