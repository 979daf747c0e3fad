/** A real OpenClaw gateway with a scripted model, in separate folders, on loopback only. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { guardMs } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import type { GatewayTarget } from '../agents/openclaw-fixture.ts'
import { freePort } from '../free-port.ts'
import { openScriptedModel } from './scripted-model.ts'
import type { ScriptedModel } from './scripted-model.ts'

export interface RealGateway extends GatewayTarget {
  readonly model: ScriptedModel
  /** Sends the signal, and resolves when it has exited. */
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Starts it again on the same port; resolves when it is ready. */
  start(): Promise<void>
  /** Its log, for failed tests. */
  logs(): string
  close(): Promise<void>
}

export interface RealGatewayOptions {
  /** Merged into the default configuration. */
  readonly config?: object
}

const token = 'TOK'

export async function openRealGateway(program: string, { config = {} }: RealGatewayOptions = {}): Promise<RealGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-openclaw-run-'))
  const model = await openScriptedModel()
  const port = await freePort()
  for (const name of ['home', 'state', 'workspace']) await mkdir(join(folder, name))
  await writeFile(
    join(folder, 'config.json'),
    JSON.stringify({ ...defaultGatewayConfig(folder, port, model.baseUrl), ...config }),
  )
  let running: ChildProcess | undefined
  // Also when this process is terminated during a test.
  process.once('exit', kill)
  process.once('SIGTERM', () => process.exit(1))
  await start()
  return {
    url: `ws://127.0.0.1:${port}`,
    token,
    responder: model.responder,
    model,
    stop,
    start,
    logs: () => readFileSync(join(folder, 'output.log'), 'utf8').slice(-4_000),
    async close() {
      process.removeListener('exit', kill)
      await stop('SIGKILL')
      await model.close()
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }

  async function start(): Promise<void> {
    const output = openSync(join(folder, 'output.log'), 'a')
    running = spawn(process.execPath, [program, 'gateway'], {
      cwd: folder,
      // Its child processes end with it.
      detached: true,
      stdio: ['ignore', output, output],
      env: {
        PATH: [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
        HOME: join(folder, 'home'),
        OPENCLAW_CONFIG_PATH: join(folder, 'config.json'),
        OPENCLAW_STATE_DIR: join(folder, 'state'),
        OPENCLAW_SKIP_CHANNELS: '1',
        OPENCLAW_DISABLE_BONJOUR: '1',
        OPENCLAW_NO_RESPAWN: '1',
        OPENCLAW_EXEC_SHELL_SNAPSHOT: '0',
      },
    })
    closeSync(output)
    await ready(running)
  }

  function kill(): void {
    if (running?.pid !== undefined && running.exitCode === null) process.kill(-running.pid, 'SIGKILL')
  }

  /** It takes about ten seconds. */
  async function ready(child: ChildProcess): Promise<void> {
    for (const giveUpAt = Date.now() + guardMs; ;) {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
      await answer?.body?.cancel()
      if (answer?.ok === true) return
      if (child.exitCode !== null || Date.now() > giveUpAt) {
        throw new Error(`the gateway did not start: ${readFileSync(join(folder, 'output.log'), 'utf8').slice(-2_000)}`)
      }
      await sleep(100)
    }
  }

  async function stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = running
    running = undefined
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    process.kill(signal === 'SIGKILL' ? -child.pid : child.pid, signal)
    await gone
  }
}

/** The smallest configuration that calls only the model. */
function defaultGatewayConfig(folder: string, port: number, baseUrl: string): object {
  const endpoints = { chatCompletions: { enabled: true } }
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
  const scripted = {
    id: 'scripted',
    name: 'Scripted',
    reasoning: false,
    input: ['text', 'image'],
    cost,
    contextWindow: 120_000,
    maxTokens: 4_096,
  }
  return {
    // Without `bind` it listens on all addresses in a container.
    gateway: {
      mode: 'local',
      port,
      bind: 'loopback',
      auth: { mode: 'token', token },
      controlUi: { enabled: false },
      http: { endpoints },
    },
    models: {
      mode: 'replace',
      catalogRefresh: { enabled: false },
      providers: { scripted: { baseUrl, apiKey: 'sk-local', api: 'openai-completions', models: [scripted] } },
    },
    agents: {
      defaults: {
        workspace: join(folder, 'workspace'),
        skipBootstrap: true,
        heartbeat: { every: '0m' },
        model: { primary: 'scripted/scripted' },
      },
    },
    plugins: { enabled: false },
    update: { checkOnStart: false },
    telemetry: { enabled: false },
    logging: { file: join(folder, 'gateway.log') },
  }
}
