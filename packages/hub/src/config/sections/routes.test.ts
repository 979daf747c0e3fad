/** Routes in their short and long form, and their validation. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { agentKinds } from '../../agents/kinds.ts'
import { checkConfig } from '../check-config.ts'
import { formatPath } from '../config-problem.ts'

const entry = { kind: 'module', path: './agent.ts' }
const agents = { greeter: entry, analyst: entry, spare: entry }
const checked = (routes: unknown) => checkConfig({ agents, routes }, { kinds: agentKinds, baseDir: '/x' })

function read(...routes: readonly unknown[]) {
  const result = checked(routes)
  assert.ok('config' in result, JSON.stringify(result))
  return result.config.routes
}

function wrong(...routes: readonly unknown[]): readonly string[] {
  const result = checked(routes)
  return 'problems' in result ? result.problems.map(({ path, message }) => `${formatPath(path)}: ${message}`) : []
}

describe('the section routes', () => {
  it('is read as people write it: one agent, one text', () => {
    assert.deepEqual(read({ from: 'greeter', when: { text: 'invoice' }, to: 'analyst' }), [
      {
        from: ['greeter'],
        when: { text: ['invoice'] },
        to: [{ agent: 'analyst', weight: 1 }],
        priority: 0,
        fallback: [],
      },
    ])
  })

  it('takes lists, weights, a priority and who stands in', () => {
    const [route] = read({
      name: 'trial',
      from: ['greeter', 'spare'],
      to: ['greeter', { agent: 'analyst', weight: 0.1 }],
      priority: 5,
      fallback: 'spare',
      when: { regex: '(?i)inv(oice)?', metadata: { 'order.kind': ['a', 1, null] }, parts: 'image/*', caller: 'key:*' },
    })
    assert.deepEqual(route?.to, [
      { agent: 'greeter', weight: 1 },
      { agent: 'analyst', weight: 0.1 },
    ])
    assert.deepEqual([route?.fallback, route?.priority, route?.from], [['spare'], 5, ['greeter', 'spare']])
  })

  it('says what is wrong: names, expressions that are not safe, and nothing to go by', () => {
    assert.deepEqual(wrong({ from: 'greter', to: ['analyst', 'none'], fallback: 'missing' }), [
      'routes[0].from: unknown agent greter: did you mean greeter?',
      'routes[0].to[1]: unknown agent none',
      'routes[0].fallback: unknown agent missing',
    ])
    assert.match(wrong({ from: 'greeter', to: 'analyst', when: { regex: '(?=x)y' } })[0] ?? '', /regex: .*RE2/)
    assert.match(wrong({ from: 'greeter', to: 'analyst', when: {} })[0] ?? '', /must be a mapping of conditions/)
    assert.match(wrong({ from: 'greeter', to: [{ agent: 'analyst', weight: 0 }] })[0] ?? '', /above 0|must be an agent/)
    assert.match(wrong({ from: 'greeter', to: 'analyst', then: 1 })[0] ?? '', /then: unknown setting/)
  })
})
