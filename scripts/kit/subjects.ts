/** The subjects of the conformance kit: the conformance agent, and a hub that has the same agent as a module. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { freePort } from '../../test/free-port.ts'

const root = join(import.meta.dirname, '../..')
const agentProgram = join(root, 'examples/conformance-agent/main.ts')
const hubProgram = join(root, 'packages/hub/src/cli/main.ts')
const scripted = pathToFileURL(join(root, 'examples/conformance-agent/scripted.ts')).href

/** One way to set up the agent: some tests need one that lacks or requires something. */
export interface KitScenario {
  readonly name: string
  /** For the conformance agent. */
  readonly flags: readonly string[]
  /** Beside the agent's name, skills and modes, in the module that the hub loads. */
  readonly module?: object
  /** For the agent's entry in the hub's configuration. */
  readonly entry?: object
  /** For the hub's configuration. */
  readonly settings: object
  /** The tests to run, for pytest's `-k`. */
  readonly select?: string
}

const requiredExtension = 'urn:a2a:tck:required-extension'
const loopbackWebhooks = { push: { allow: ['localhost', '127.0.0.1'] } }

export const kitScenarios: readonly KitScenario[] = [
  { name: 'streaming', flags: ['--allow-loopback-webhooks'], settings: loopbackWebhooks },
  {
    name: 'neither',
    flags: ['--no-streaming', '--no-push'],
    module: { streaming: false },
    settings: { push: false },
  },
  {
    name: 'extended-card',
    flags: ['--extended-card', '--allow-loopback-webhooks'],
    entry: { card: { extended: { description: 'Does what the official conformance kit asks, and knows you' } } },
    // If credentials are optional, callers without any have a rate limit, which the kit exceeds.
    settings: { ...loopbackWebhooks, access: { anonymous: '*' }, limits: { perAddress: '100000/min' } },
  },
  {
    name: 'required-extension',
    flags: ['--required-extension', requiredExtension],
    entry: { requiredExtensions: [requiredExtension] },
    settings: {},
    select: 'required_extension',
  },
]

export interface KitSubject extends AsyncDisposable {
  readonly url: string
}

export async function startAgent({ flags }: KitScenario): Promise<KitSubject> {
  const ports = ['--port', String(await freePort()), '--grpc-port', String(await freePort())]
  return startProgram([agentProgram, ...ports, ...flags], /^(http\S+) serves/)
}

export async function startHub({ module, entry, settings }: KitScenario, folder: string): Promise<KitSubject> {
  const listen = { port: await freePort(), grpcPort: await freePort() }
  const agents = { conformance: { kind: 'module', path: './agent.ts', ...entry } }
  mkdirSync(folder)
  writeFileSync(join(folder, 'parley.json'), JSON.stringify({ listen, card: '1.0', agents, ...settings }))
  writeFileSync(join(folder, 'agent.ts'), moduleText(module))
  const config = ['up', '-c', join(folder, 'parley.json')]
  return startProgram([hubProgram, ...config], /listening on (http\S+)/, {
    cwd: folder,
    PARLEY_DATA: join(folder, 'data'),
  })
}

function moduleText(module: object = {}): string {
  const about = {
    name: 'Conformance agent',
    description: 'Does what the official conformance kit asks of an agent',
    skills: [{ id: 'conformance', name: 'Conformance', description: 'Plays each scenario of the kit', tags: ['tck'] }],
    inputModes: ['text/plain', 'application/json', 'application/octet-stream'],
    ...module,
  }
  return `import { scripted } from '${scripted}'\nexport default { ...${JSON.stringify(about)}, agent: scripted }\n`
}

export async function startProgram(
  args: readonly string[],
  announces: RegExp,
  { cwd = root, ...env }: { readonly cwd?: string; readonly PARLEY_DATA?: string } = {},
): Promise<KitSubject> {
  const child = spawn(process.execPath, ['--conditions=parley-source', ...args], {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const closed = once(child, 'close')
  const announced = Promise.withResolvers<string>()
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line)
      const url = announces.exec(line)?.[1]
      if (url !== undefined) announced.resolve(url)
    })
  }
  void closed.then(() => announced.reject(new Error(`It ended before it listened:\n${lines.join('\n')}`)))
  return {
    url: (await announced.promise).replace('127.0.0.1', 'localhost'),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await closed
    },
  }
}
