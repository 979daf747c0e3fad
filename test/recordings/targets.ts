/** What the conversations are held with: a server with either store, and a hub. Each has an open and a guarded listener. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { A2AError, memoryStore } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { bearer, cursor, timestamps } from '@parley/a2a/server'
import type { Store } from '@parley/a2a/stores'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { agentKinds } from '../../packages/hub/src/agents/kinds.ts'
import { checkConfig } from '../../packages/hub/src/config/check-config.ts'
import { startHub } from '../../packages/hub/src/hub.ts'
import { busy, main, plain, secret, strict } from './agents.ts'
import type { Address } from './wire.ts'

export interface Target {
  readonly open: Address
  /** Requires credentials, signs its cards and has no webhooks. */
  readonly guarded: Address
  /** Authorization headers of callers of the guarded listener, by name. */
  readonly callers: Readonly<Record<CallerName, string>>
  close(): Promise<void>
}

/** `ann` may use every agent, `bob` only the agent `main`; the second call of `eve` is one too many. */
export type CallerName = 'ann' | 'bob' | 'eve'

export const targetNames = ['server', 'memory', 'hub'] as const
export type TargetName = (typeof targetNames)[number]

const silent = { debug() {}, info() {}, warn() {}, error() {} }
/** No timer may decide what a response says. */
const hourMs = 3_600_000
export const requiredExtension = 'https://example.com/extensions/mood/v1'
const publicUrl = 'https://agents.example.com'
const extended = { description: 'For callers with credentials' }
/** Requests per second. */
export const unlimitedRate = 1_000_000
const bodyBytes = 50_000
const parts = 20

export async function openTarget(name: TargetName): Promise<Target> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-recordings-'))
  const opened = name === 'hub' ? await openHubs(folder) : await openServers(name, folder)
  return {
    ...opened,
    async close() {
      await opened.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function openServers(name: TargetName, folder: string): Promise<Target> {
  const store = (file: string): Store => (name === 'memory' ? memoryStore() : sqliteStore(join(folder, file)))
  const shared = { port: 0, grpcPort: 0, log: silent, drainMs: 0, keepAliveMs: hourMs, limits: { bodyBytes, parts } }
  const settings = { openAfterMs: hourMs }
  const open = await serve({
    ...shared,
    store: store('open.db'),
    push: { allow: ['127.0.0.1'], scheduleMs: [5, 5] },
    extensions: [cursor(), timestamps()],
    agents: {
      main: { ...main, ...settings },
      plain: { ...plain, ...settings, outputModesRequired: true },
      strict: { ...strict, ...settings, extensions: [{ uri: requiredExtension, required: true }] },
      busy: { ...busy, ...settings, whenBusy: 'reject' },
    },
  })
  const callers = { ann: 'Bearer ann', bob: 'Bearer bob', eve: 'Bearer eve' }
  let calls = 0
  const guarded = await serve({
    ...shared,
    store: store('guarded.db'),
    publicUrl,
    signing: true,
    authenticate: bearer({ verify: (token) => (token in callers ? { id: token, scopes: [] } : undefined) }),
    admit({ caller, agent }) {
      if (caller.id === 'bob' && agent !== 'main')
        return { refuse: new A2AError('PERMISSION_DENIED', 'This caller may not use this agent') }
      if (caller.id === 'eve' && (calls += 1) > 1) {
        const details = { retryAfterSeconds: '60' }
        return { refuse: new A2AError('RATE_LIMITED', 'One call is enough', details) }
      }
      return agent === 'secret' ? { headers: { 'x-caller': caller.id } } : {}
    },
    agents: {
      main: { ...main, ...settings, extendedCard: extended },
      secret: { ...secret, ...settings, protectCard: true },
    },
  })
  return {
    open: addressOf(open),
    guarded: addressOf(guarded),
    callers,
    async close() {
      await open.close()
      await guarded.close()
    },
  }
}

const adminKey = 'the admin key of the recordings'

async function openHubs(folder: string): Promise<Target> {
  const agent = (name: string, more: object = {}): object => ({
    kind: 'module',
    path: './agents.ts',
    export: name,
    openAfter: '1h',
    ...more,
  })
  const shared = {
    listen: { port: 0, grpcPort: 0 },
    admin: { key: adminKey },
    health: { every: 'none' },
    limits: { body: bodyBytes, parts, perAddress: `${unlimitedRate}/s`, perKey: `${unlimitedRate}/s` },
  }
  const start = async (sections: object, dataDir: string) => {
    const checked = checkConfig(
      { ...shared, ...sections },
      { kinds: agentKinds, baseDir: import.meta.dirname, dataDir },
    )
    assert.ok('config' in checked, JSON.stringify(checked))
    return startHub(checked.config, { log: silent })
  }
  const open = await start(
    {
      store: 'sqlite:',
      access: { anonymous: '*' },
      push: { allow: ['127.0.0.1'], schedule: ['5ms', '5ms'] },
      agents: {
        main: agent('main'),
        plain: agent('plain', { outputModesRequired: true }),
        strict: agent('strict', { requiredExtensions: [requiredExtension] }),
        busy: agent('busy', { whenBusy: 'reject' }),
      },
    },
    join(folder, 'open'),
  )
  const guarded = await start(
    {
      store: 'memory:',
      publicUrl,
      access: { anonymous: [] },
      push: false,
      agents: {
        main: agent('main', { card: { extended } }),
        secret: agent('secret', { card: 'private' }),
      },
    },
    join(folder, 'guarded'),
  )
  const key = async (order: object): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${guarded.port}/admin/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'test', ...order }),
    })
    assert.equal(response.status, 201, await response.clone().text())
    return `Bearer ${((await response.json()) as { key: string }).key}`
  }
  return {
    open: addressOf(open),
    guarded: addressOf(guarded),
    callers: {
      ann: await key({ scopes: ['agent:*'] }),
      bob: await key({ scopes: ['agent:main'] }),
      eve: await key({ scopes: ['agent:*'], rate: '1/day' }),
    },
    async close() {
      await open.close()
      await guarded.close()
    },
  }
}

function addressOf({ port, grpcPort }: { readonly port: number; readonly grpcPort?: number }): Address {
  assert.ok(grpcPort !== undefined)
  return { port, grpcPort }
}
