/** A whole hub in this process, over a real socket and a real file, with a token issuer and a few callers. */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { stringify } from 'yaml'
import { agentKinds } from '../../packages/hub/src/agents/kinds.ts'
import { fileSource } from '../../packages/hub/src/config/config-source.ts'
import type { Hub } from '../../packages/hub/src/hub.ts'
import { startHub } from '../../packages/hub/src/hub.ts'
import { createLogBuffer } from '../../packages/hub/src/telemetry/logs/log-buffer.ts'
import { guardMs } from '../../packages/a2a/src/testing/fixtures/eventually.ts'

/** The credentials of each request. */
export type AuthHeaders = Readonly<Record<string, string>>

export interface HttpAnswer {
  readonly status: number
  readonly headers: Headers
  readonly json: any
}

export interface TestHub {
  readonly hub: Hub
  readonly url: string
  readonly folder: string
  /** The configuration file. */
  readonly file: string
  /** All log entries. */
  readonly logged: readonly (readonly [message: string, fields: Record<string, unknown> | undefined])[]
  /** As the admin by default. */
  ask(method: string, path: string, body?: unknown, proof?: AuthHeaders): Promise<HttpAnswer>
  /** A message to an agent, in the format of 1.0; returns its task. */
  send(agent: string, text: string, proof?: AuthHeaders, more?: object): Promise<any>
  call(agent: string, method: string, params: unknown, proof?: AuthHeaders): Promise<HttpAnswer>
  /** A key, and the credentials that use it. */
  key(order: object): Promise<AuthHeaders>
  /** Restarts the hub over the same data and the same file. */
  restart(): Promise<void>
  close(): Promise<void>
}

export const adminKey = 'the admin key of a test'
export const asAdmin: AuthHeaders = { authorization: `Bearer ${adminKey}` }

const agentFile = `
export default async function* ({ text, signal }) {
  if (text.startsWith('ask')) {
    return yield { state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'Which city?' }] } }
  }
  if (text.startsWith('fail')) throw new Error('a secret of ours')
  if (text.startsWith('wait')) return await new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason)))
  yield 'You said: '
  yield text
}
`

export interface TestHubOptions {
  /** Sections of the configuration, merged over the defaults. */
  readonly config?: object
  /** The whole text instead. */
  readonly text?: string
  readonly environment?: Readonly<Record<string, string>>
  /** Where the files of the console are. */
  readonly console?: URL
  /** Beside the configuration. */
  readonly files?: Readonly<Record<string, string>>
}

export async function openTestHub({
  config = {},
  text,
  environment = {},
  console,
  files = {},
}: TestHubOptions = {}): Promise<TestHub> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-admin-'))
  const file = join(folder, 'parley.yaml')
  for (const [name, held] of Object.entries({ 'talker.ts': agentFile, ...files }))
    writeFileSync(join(folder, name), held)
  writeFileSync(file, text ?? stringify({ ...defaultConfig, ...config }))
  const logged: (readonly [string, Record<string, unknown> | undefined])[] = []
  const note = (message: string, fields?: Record<string, unknown>): void => void logged.push([message, fields])
  const log = { debug: note, info: note, warn: note, error: note }
  const logBuffer = createLogBuffer()
  logBuffer.add('info', JSON.stringify({ time: new Date().toISOString(), level: 'info', message: 'started' }))
  const source = fileSource({ file, fallback: {}, environment, cwd: folder, kinds: agentKinds })
  let hub = await open()

  async function open(): Promise<Hub> {
    const loaded = await source.load(source.read())
    if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
    return startHub(loaded.config, {
      log,
      logBuffer,
      source,
      consoleFolder: console,
      programEnv: { PATH: process.env['PATH'] ?? '' },
    })
  }

  async function close(): Promise<void> {
    await hub.close()
    rmSync(folder, { recursive: true, force: true })
  }
  after(close)

  const ask: TestHub['ask'] = async (method, path, body, proof = asAdmin) => {
    const response = await fetch(hub.url + path, {
      method,
      redirect: 'manual',
      headers: { ...proof, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const said = await response.text()
    return { status: response.status, headers: response.headers, json: said === '' ? undefined : JSON.parse(said) }
  }
  const call: TestHub['call'] = (agent, method, params, proof = {}) =>
    ask('POST', `/a2a/${agent}`, { jsonrpc: '2.0', id: 1, method, params }, { 'A2A-Version': '1.0', ...proof })

  return {
    get hub() {
      return hub
    },
    get url() {
      return hub.url
    },
    folder,
    file,
    logged,
    ask,
    call,
    async send(agent, said, proof, more = {}) {
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: said }], ...more }
      const { json } = await call(agent, 'SendMessage', { message }, proof)
      if (json.result?.task === undefined) throw new Error(JSON.stringify(json))
      return json.result.task
    },
    async key(order) {
      const { status, json } = await ask('POST', '/admin/keys', { name: 'test', ...order })
      if (status !== 201) throw new Error(JSON.stringify(json))
      return { authorization: `Bearer ${json.key}` }
    },
    async restart() {
      await hub.close()
      hub = await open()
    },
    close,
  }
}

const defaultConfig = {
  listen: { port: 0, grpcPort: false },
  admin: { key: adminKey },
  agents: {
    talker: {
      kind: 'module',
      path: './talker.ts',
      default: true,
      skills: [
        { id: 'say', name: 'Say', description: 'Repeats your text', tags: ['demo', 'talk'] },
        { id: 'sing', name: 'Sing', description: 'Sings what you say', tags: ['music'] },
      ],
    },
    echo: { kind: 'demo', agent: 'echo' },
    clock: { kind: 'demo', agent: 'clock' },
  },
}

export interface TokenIssuer {
  readonly issuer: string
  /** For `access.jwt`. */
  readonly entry: { readonly issuer: string; readonly audience: string; readonly jwks: string }
  token(claims: Record<string, unknown>): Promise<AuthHeaders>
}

/** Publishes its keys at a separate port. */
export async function openTokenIssuer(): Promise<TokenIssuer> {
  const pair = await generateKeyPair('ES256', { extractable: true })
  const keys = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'ES256' }] }
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(keys))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => void server.close())
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    issuer,
    entry: { issuer, audience: 'parley', jwks: `${issuer}/keys` },
    async token(claims) {
      const token = await new SignJWT({ iss: issuer, aud: 'parley', sub: 'ann', ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'k' })
        .setExpirationTime(typeof claims['exp'] === 'number' ? claims['exp'] : '10m')
        .sign(pair.privateKey)
      return { authorization: `Bearer ${token}` }
    },
  }
}

/** Retries until the condition holds. */
export async function waitFor<T>(look: () => Promise<T | undefined>, what: string): Promise<T> {
  const giveUpAt = Date.now() + guardMs
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (Date.now() > giveUpAt) throw new Error(`waited ${guardMs} ms for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}
