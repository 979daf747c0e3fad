import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { agentKinds } from '../agents/kinds.ts'
import { checkConfig } from './check-config.ts'
import { applyLive, diffConfig, takesEffect, type EffectTable } from './diff-config.ts'
import { sectionsSchema, type HubConfig, delegationSection } from './hub-config.ts'
import { limitsSection } from './sections/limits.ts'

function config(tree: object): HubConfig {
  const agents = { a: { kind: 'demo', agent: 'echo' } }
  const checked = checkConfig({ agents, ...tree }, { kinds: agentKinds, baseDir: '/srv/parley' })
  if ('problems' in checked) assert.fail(JSON.stringify(checked.problems))
  return checked.config
}

describe('the table of when settings take effect', () => {
  it('has every section, and every setting of the sections that it divides', () => {
    assert.deepEqual(Object.keys(takesEffect).toSorted(), Object.keys(sectionsSchema.shape).toSorted())
    assert.deepEqual(Object.keys(takesEffect.limits).toSorted(), Object.keys(limitsSection.shape).toSorted())
    assert.deepEqual(Object.keys(takesEffect.delegation).toSorted(), Object.keys(delegationSection.shape).toSorted())
  })

  it('does not compile without a section, or without a setting of a divided one', () => {
    const { prices: _, ...withoutPrices } = takesEffect
    // @ts-expect-error: `prices` has no line
    const missingSection: EffectTable = withoutPrices
    const { wait: __, ...withoutWait } = takesEffect.limits
    // @ts-expect-error: `limits.wait` has no line
    const missingSetting: EffectTable = { ...takesEffect, limits: withoutWait }
    assert.notDeepEqual(missingSection, missingSetting)
  })
})

describe('a changed configuration', () => {
  const before = config({ limits: { perKey: '5/s' } })

  it('reports sections that take effect at once, and settings that need a restart by their full name', () => {
    const after = config({
      limits: { perKey: '9/s', body: '1MB' },
      delegation: { issuer: 'https://hub.example.com' },
      publicUrl: 'https://hub.example.com',
      health: { every: '5m' },
    })
    assert.deepEqual(diffConfig(before, after), {
      added: [],
      changed: [],
      removed: [],
      applied: ['limits', 'health'],
      restart: ['publicUrl', 'limits.body', 'delegation.issuer'],
    })
  })

  it('reports agents by name', () => {
    const after = config({ limits: { perKey: '5/s' }, agents: { b: { kind: 'demo', agent: 'echo' } } })
    assert.deepEqual(diffConfig(before, after), { added: ['b'], changed: [], removed: ['a'], applied: [], restart: [] })
  })

  it('keeps the current value of what needs a restart, and reports it again at the next change', () => {
    const after = config({ limits: { perKey: '9/s', body: '1MB' }, publicUrl: 'https://hub.example.com' })
    const running = applyLive(before, after)
    assert.deepEqual(running.limits.perKey, after.limits.perKey)
    assert.equal(running.limits.body, undefined)
    assert.equal(running.publicUrl, undefined)
    assert.deepEqual(diffConfig(before, running).restart, [])
    assert.deepEqual(diffConfig(running, after).restart, ['publicUrl', 'limits.body'])
    assert.deepEqual(diffConfig(running, after).applied, [])
  })
})
