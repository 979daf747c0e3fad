/** A hub in this process, from sections of a configuration file: closed with the test, which removes its folder. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import type { AgentLog } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import type { ConnectOptions, RemoteAgent } from '@parley/a2a/client'
import { agentKinds } from '../../packages/hub/src/agents/kinds.ts'
import { checkConfig } from '../../packages/hub/src/config/check-config.ts'
import { startHub } from '../../packages/hub/src/hub.ts'
import type { Hub } from '../../packages/hub/src/hub.ts'

export const adminKey = 'the admin of the hub under test'

export interface OpenHub {
  readonly hub: Hub
  readonly lines: readonly string[]
  agent(name: string, options?: ConnectOptions): Promise<RemoteAgent>
  /** As the admin. */
  admin(path: string): Promise<any>
  close(): Promise<void>
}

export async function openHub(t: TestContext, sections: object, dataDir?: string): Promise<OpenHub> {
  const folder = dataDir ?? (await newFolder(t))
  const lines: string[] = []
  const note = (message: string, fields?: Record<string, unknown>): void =>
    void lines.push(`${message} ${JSON.stringify(fields)}`)
  const log: AgentLog = { debug: note, info: note, warn: note, error: note }
  const tree = { listen: { port: 0, grpcPort: false }, admin: { key: adminKey }, ...sections }
  const checked = checkConfig(tree, { kinds: agentKinds, baseDir: import.meta.dirname, dataDir: folder })
  assert.ok('config' in checked, JSON.stringify(checked))
  const path = [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter)
  const hub = await startHub(checked.config, { log, insecure: true, programEnv: { PATH: path } })
  t.after(() => hub.close())
  return {
    hub,
    lines,
    agent: (name, options) => connect(`${hub.url}/a2a/${name}`, options),
    async admin(where) {
      const response = await fetch(hub.url + where, { headers: { authorization: `Bearer ${adminKey}` } })
      assert.equal(response.status, 200, `${where}: ${response.status}`)
      return response.json()
    },
    close: () => hub.close(),
  }
}

export async function newFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-telemetry-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}
