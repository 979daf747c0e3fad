import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore } from '@parley/a2a'
import { UnreadableConfigError } from '../config/load-config.ts'
import { createConfigService, type ConfigServiceDeps } from './config-service.ts'

describe('reseal', () => {
  it('leaves versions whose key is lost, and seals the others again', async () => {
    const { kv } = memoryStore()
    for (const [key, sealed] of Object.entries({ a: 'old:a', b: 'lost', c: 'old:c' }))
      await kv.write('config-version', { key, value: { who: 'admin', at: 0, hash: '', sealed } })
    let isDown = false
    const secrets = {
      async unseal(_purpose: string, sealed: string) {
        if (isDown) throw new Error('the store does not answer')
        if (sealed === 'lost') throw new DOMException('', 'OperationError')
        return sealed.slice(4)
      },
      seal: async (_purpose: string, text: string) => `new:${text}`,
    }
    const given = { kinds: [], kv, now: () => 0, secrets: async () => secrets } as unknown as ConfigServiceDeps
    const service = createConfigService(given)
    await service.reseal()
    const stored = (await kv.list('config-version', { limit: 10 })).map(
      ({ value }) => (value as { sealed: string }).sealed,
    )
    assert.deepEqual(stored, ['new:a', 'lost', 'new:c'])
    isDown = true
    await assert.rejects(service.reseal(), /does not answer/)
  })
})

describe('a configuration file that cannot be read', () => {
  it('is reported in one sentence instead of an internal error', () => {
    const source = {
      read() {
        throw new UnreadableConfigError('parley.yaml', { code: 'EISDIR' })
      },
    }
    const service = createConfigService({ kinds: [], source } as unknown as ConfigServiceDeps)
    const message = 'parley.yaml cannot be read: it is a folder: a file is needed there'
    assert.throws(() => service.text(), { name: 'RouteError', code: 'UNAVAILABLE', message })
  })
})

describe('a change that is refused because an editor was faster', () => {
  it('leaves the hub with the text of the editor', async () => {
    let file = 'agents: {}\n'
    const applied: string[] = []
    const source = {
      file: 'parley.yaml',
      read: () => file,
      load: async (text: string) => ({ config: text }),
      async write() {
        file = 'agents: { y: { kind: demo, agent: echo } }\n'
        return false
      },
    }
    const reload = async (config: unknown) => {
      applied.push(String(config))
      return {}
    }
    const { kv } = memoryStore()
    const service = createConfigService({ kinds: [], kv, source, reload } as unknown as ConfigServiceDeps)
    const mine = 'agents: { x: { kind: demo, agent: echo } }\n'
    await assert.rejects(service.apply(mine, { who: 'ann', base: service.hash() }), { code: 'CONFLICT' })
    assert.deepEqual(applied, [mine, file])
  })
})

describe('a reload that the hub refuses', () => {
  it('is the reason why the file is not applied', async () => {
    const reasons: string[] = []
    const source = {
      read: () => 'agents: {}\n',
      load: async () => ({ config: {} }),
      reject: (reason: string) => void reasons.push(reason),
    }
    const reload = () => Promise.reject(new Error('anonymous access at 0.0.0.0'))
    const service = createConfigService({ kinds: [], source, reload } as unknown as ConfigServiceDeps)
    await assert.rejects(service.reload(), /anonymous access/)
    assert.deepEqual(reasons, ['anonymous access at 0.0.0.0'])
  })
})
