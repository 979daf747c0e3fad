/** A hub behind a proxy, as docs/guides/reverse-proxy.md configures it, which can be killed, paused and started again. */
import { AsyncResource } from 'node:async_hooks'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../free-port.ts'
import { newFolder, startHub } from '../../hub/running-hub.ts'
import type { RunningHub } from '../../hub/running-hub.ts'
import { fencedBlocks, readPage } from '../../journeys/pages/page-steps.ts'

export const page = 'docs/guides/reverse-proxy.md'
export const pageBlocks = fencedBlocks(readPage(page))
export const fileOnPage = (name: string): string => pageBlocks.find(({ title }) => title === name)?.content ?? ''

export interface ProxiedHub {
  readonly name: string
  readonly port: number
  readonly grpcPort: number
  readonly http: string
  readonly grpc: string
  start(): Promise<void>
  /** SIGKILL; resolves when the process has exited. */
  kill(): Promise<void>
  signal(name: NodeJS.Signals): void
  /** Lets the agent `gate` say number `n` of this name. */
  allow(gate: string, n: number): void
}

export const adminKey = 'a key that only this test knows'
const agents = join(import.meta.dirname, 'agents.ts')

const testAgents = (name: string): string =>
  ['gate', 'large', 'whoami']
    .map((agent) => `  ${agent}: { kind: module, path: ${agents}, export: ${agent}, description: "${name}" }\n`)
    .join('')

/** With the configuration of the page. */
export function hubOfPage(name: string, publicHost: string): Promise<ProxiedHub> {
  const config = fileOnPage('parley.yaml')
    .replaceAll('hub.example.com:443', publicHost)
    .replaceAll('hub.example.com', publicHost)
    .replace('[clock]', "'*'")
  return createHub(name, `${config}${testAgents(name)}`)
}

/** It knows its public address only from the proxy. */
export function hubWithoutPublicUrl(name: string, limits: string): Promise<ProxiedHub> {
  const config = `trustProxy: true\naccess: { anonymous: '*' }\nlimits: ${limits}\nagents:\n`
  return createHub(name, `${config}${testAgents(name)}`)
}

async function createHub(name: string, config: string): Promise<ProxiedHub> {
  const [port, grpcPort] = [await freePort(), await freePort()]
  const folder = await newFolder({ 'package.json': '{ "type": "module" }', 'parley.yaml': config })
  let hub: RunningHub | undefined
  // A test may restart it, and it runs until all tests have ended: it belongs to the context of this call.
  const suite = new AsyncResource('hub')
  return {
    name,
    port,
    grpcPort,
    http: `127.0.0.1:${port}`,
    grpc: `127.0.0.1:${grpcPort}`,
    async start() {
      const env = { HUB_NAME: name, PARLEY_ADMIN_KEY: adminKey }
      const args = ['--port', String(port), '--grpc-port', String(grpcPort)]
      hub = await suite.runInAsyncScope(() => startHub(folder, args, env))
    },
    async kill() {
      hub?.signal('SIGKILL')
      await hub?.stop()
    },
    signal: (signal) => hub?.signal(signal),
    allow: (gate, n) => writeFileSync(join(folder, `${gate}.${n}`), ''),
  }
}
