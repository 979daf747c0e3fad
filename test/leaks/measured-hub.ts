/** A hub in the measured process, with its tasks in a file; the upstreams of its agents run in another process. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { connect } from '@parley/a2a/client'
import { agentKinds } from '../../packages/hub/src/agents/kinds.ts'
import { checkConfig } from '../../packages/hub/src/config/check-config.ts'
import { startHub } from '../../packages/hub/src/hub.ts'
import type { Hub } from '../../packages/hub/src/hub.ts'
import { isFull } from './measure.ts'
import type { Upstreams } from './upstreams.ts'

export const adminKey = 'the admin key of a test'

export interface MeasuredHub {
  readonly hub: Hub
  readonly folder: string
  close(): Promise<void>
}

/** `folder` contains its tasks, and files of its programs. */
export async function openMeasuredHub(
  sections: object,
  folder = mkdtempSync(join(tmpdir(), 'parley-leaks-')),
): Promise<MeasuredHub> {
  const silent = { debug() {}, info() {}, warn() {}, error() {} }
  const tree = {
    listen: { port: 0, grpcPort: false },
    admin: { key: adminKey },
    limits: { perKey: '1000000/s', perAddress: '1000000/s' },
    ...sections,
  }
  const checked = checkConfig(tree, { kinds: agentKinds, baseDir: import.meta.dirname, dataDir: folder })
  assert.ok('config' in checked, JSON.stringify(checked))
  const path = [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter)
  const hub = await startHub(checked.config, { log: silent, programEnv: { PATH: path } })
  return {
    hub,
    folder,
    async close() {
      await hub.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The hub follows the traces of its last 2,000 tasks: the quick mode would not get past them otherwise. */
export async function fillCaches(url: string): Promise<void> {
  if (isFull) return
  const agent = await connect(url)
  for (let left = 2_200; left > 0; left -= 20) {
    await Promise.all(Array.from({ length: 20 }, () => agent.send('hello')))
  }
}

export async function openUpstreams(): Promise<Upstreams & { close(): void }> {
  const child = spawn(process.execPath, ['--conditions=parley-source', join(import.meta.dirname, 'upstreams.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout })) {
    return { ...(JSON.parse(line) as Upstreams), close: () => void child.stdin.end() }
  }
  throw new Error('the upstreams could not be started')
}
