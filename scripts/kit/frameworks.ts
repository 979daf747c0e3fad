/**
 * `npm run kit -- --frameworks`: agent frameworks of Python against a hub without settings. Each framework calls three agents of the
 * hub, and its own agent is called through the hub. A program of `frameworks/` has both sides; its header names the packages,
 * which are installed once, in an environment for each framework. No model and no network: a scripted model answers.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Part, StreamEvent, Task, TaskStatus } from '@parley/a2a'
import { type Script, scriptedModel } from '../../packages/hub/src/agents/testing/scripted-model.ts'
import { freePort } from '../../test/free-port.ts'
import { type Cell, cells, type Framework, frameworks } from './framework-list.ts'
import { startProgram } from './subjects.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'parley-tests/frameworks')

/** What every agent says but `echo`, in these chunks. */
const chunks = ['one ', 'two ', 'three']
const answer = chunks.join('')

interface Row {
  readonly framework: string
  readonly version: string
  readonly results: Readonly<Record<Cell, string>>
}

/** Prints the matrix. Returns whether every cell is as `framework-list.ts` says. */
export async function runFrameworks({ only, python, scratch }: RunOptions): Promise<boolean> {
  const rows: Row[] = []
  const problems: string[] = []
  for (const framework of frameworks.filter(({ name }) => only === undefined || only.split(',').includes(name))) {
    const row = await tryFramework(framework, python, join(scratch, framework.name))
    rows.push(row)
    problems.push(...problemsOf(framework, row))
  }
  if (rows.length === 0) problems.push(`--only names some of ${frameworks.map(({ name }) => name).join(', ')}`)
  else console.log(matrix(rows))
  for (const problem of problems) console.log(`✖ ${problem}`)
  return problems.length === 0
}

interface RunOptions {
  readonly only?: string
  readonly python: string
  readonly scratch: string
}

function problemsOf({ fails = {} }: Framework, { framework, results }: Row): readonly string[] {
  return cells
    .filter((cell) => results[cell] !== 'none' && results[cell] !== (fails[cell]?.result ?? 'ok'))
    .map((cell) => `${framework} ${cell}: ${results[cell]}${results[cell] === 'ok' ? ': no longer fails' : ''}`)
}

function matrix(rows: readonly Row[]): string {
  const lines = [
    ['framework', 'version', ...cells],
    ['---', '---', ...cells.map(() => '---')],
    ...rows.map(({ framework, version, results }) => [framework, version, ...cells.map((cell) => results[cell])]),
  ]
  return lines.map((line) => `| ${line.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n')
}

async function tryFramework(framework: Framework, python: string, folder: string): Promise<Row> {
  const program = join(import.meta.dirname, 'frameworks', `${framework.name}_peer.py`)
  const packages = packagesOf(program)
  const peer = { program, python: await environment(framework.name, packages, python) }
  const model = await scriptedModel(script)
  try {
    const { PATH, HOME } = process.env
    const openai = { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: model.url, OPENAI_API_BASE: model.url }
    const env = { PATH, HOME, ...openai, LITELLM_LOCAL_MODEL_COST_MAP: 'True', PYTHONDONTWRITEBYTECODE: '1' }
    const port = await freePort()
    await using remote = await startPeer(peer, port, framework.card ?? '/.well-known/agent-card.json', env)
    const agents = {
      echo: { kind: 'demo', agent: 'echo', default: true },
      model: { kind: 'openai', baseUrl: model.url, model: 'scripted' },
      loop: { kind: 'loop', model: 'model' },
      remote: { kind: 'a2a', url: remote.url },
    }
    mkdirSync(folder)
    writeFileSync(join(folder, 'parley.json'), JSON.stringify({ agents }))
    await using hub = await startProgram(
      [join(root, 'packages/hub/src/cli/main.ts'), 'up', '--port', String(await freePort())],
      /listening on (http\S+)/,
      { cwd: folder },
    )
    const call = (agent: string, wanted: string): Promise<string> =>
      framework.hasClient === false
        ? Promise.resolve('none')
        : tryClient(peer, { url: `${hub.url}/a2a/${agent}`, wanted, env })
    const { failure } = remote
    const url = `${hub.url}/a2a/remote`
    return {
      framework: framework.name,
      version: packages[0]?.split('==')[1] ?? '',
      results: {
        'calls echo': await call('echo', 'Hello'),
        'calls a model': await call('model', answer),
        'calls a loop': await call('loop', answer),
        'is called': failure ?? (await tryAgent(url, [])),
        'is streamed': failure ?? (await tryAgent(url, ['--stream'])),
      },
    }
  } finally {
    await model.close()
  }
}

/** BeeAI has the model answer by a tool. CrewAI has it choose the agent, and accepts only JSON from an agent. */
const script: Script = ({ body }) => {
  if (body.tools?.some((tool) => tool.function.name === 'final_answer') === true)
    return { calls: [{ name: 'final_answer', input: { response: answer } }] }
  const [card] = /http:[^"\\]+agent-card.json/.exec(JSON.stringify(body)) ?? []
  if (card !== undefined) return { say: JSON.stringify({ a2a_ids: [card], message: 'Hello', is_a2a: true }) }
  return { say: body['response_format'] === undefined ? chunks : JSON.stringify({ answer }) }
}

/** The `dependencies` of the inline script metadata, the framework first. */
function packagesOf(program: string): readonly string[] {
  const [, list = '[]'] = /^# dependencies = (\[.*\])$/m.exec(readFileSync(program, 'utf8')) ?? []
  return JSON.parse(list) as string[]
}

/** Installs the packages if the environment has others. Returns its Python. */
async function environment(name: string, packages: readonly string[], python: string): Promise<string> {
  const folder = join(cache, name)
  const own = join(folder, 'bin/python')
  const installed = join(folder, 'packages.json')
  const wanted = JSON.stringify(packages)
  if (existsSync(installed) && readFileSync(installed, 'utf8') === wanted) return own
  console.log(`Installing ${packages.join(' ')}`)
  rmSync(folder, { recursive: true, force: true })
  await run(python, ['-m', 'venv', folder])
  await run(own, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages])
  writeFileSync(installed, wanted)
  return own
}

interface Peer {
  readonly program: string
  readonly python: string
}

interface RemoteAgent extends AsyncDisposable {
  readonly url: string
  /** Why it does not serve. */
  readonly failure?: string
}

async function startPeer(peer: Peer, port: number, card: string, env: NodeJS.ProcessEnv): Promise<RemoteAgent> {
  const child = spawn(peer.python, [peer.program, 'agent', String(port)], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = once(child, 'close')
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()))
  const url = `http://127.0.0.1:${port}${card}`
  const failure = await isServed(url, () => child.exitCode === null).then((served) =>
    served ? undefined : lastLine(output),
  )
  return {
    url,
    ...(failure === undefined ? {} : { failure }),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000)
      await closed
      clearTimeout(timer)
    },
  }
}

async function isServed(url: string, isRunning: () => boolean): Promise<boolean> {
  for (let attempt = 0; attempt < 600 && isRunning(); attempt += 1) {
    const response = await fetch(url).catch(() => undefined)
    if (response?.ok === true) return true
    await sleep(200)
  }
  return false
}

interface ClientCall {
  readonly url: string
  readonly wanted: string
  readonly env: NodeJS.ProcessEnv
}

async function tryClient({ program, python }: Peer, { url, wanted, env }: ClientCall): Promise<string> {
  const { stdout, failure } = await output(python, [program, 'client', url, 'Hello'], env)
  if (failure !== undefined) return failure
  const [, reply = 'null'] = /^reply: (.*)$/m.exec(stdout) ?? []
  const isWanted = reply === JSON.stringify(wanted) || /^"\{\\"answer\\": ?\\"(.*)\\"\}"$/.exec(reply)?.[1] === wanted
  return isWanted ? 'ok' : `reads ${reply}, not ${JSON.stringify(wanted)}`
}

async function tryAgent(url: string, flags: readonly string[]): Promise<string> {
  const cli = ['--conditions=parley-source', join(root, 'packages/cli/src/main.ts')]
  const send = ['send', '-a', url, '-o', 'json', '--timeout', '60s', 'Hello', ...flags]
  const { stdout, failure } = await output(process.execPath, [...cli, ...send], process.env)
  if (failure !== undefined) return failure
  const read = textOf(flags.length === 0 ? [JSON.parse(stdout) as StreamEvent] : eventsIn(stdout))
  // Strands ends it with a line break.
  return read.trimEnd() === `COMPLETED ${answer}` ? 'ok' : `reads ${JSON.stringify(read)}`
}

function eventsIn(lines: string): readonly StreamEvent[] {
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as StreamEvent)
}

/** The last state, and the text of all artifacts, or else of the last message. */
function textOf(events: readonly StreamEvent[]): string {
  let status: TaskStatus | undefined
  const artifacts = new Map<string, string>()
  const add = ({ artifactId, parts }: NonNullable<Task['artifacts']>[number], append = false): void => {
    const text = textOfParts(parts)
    artifacts.set(artifactId, append ? (artifacts.get(artifactId) ?? '') + text : text)
  }
  for (const event of events) {
    if ('message' in event) return `COMPLETED ${textOfParts(event.message.parts)}`
    if ('artifactUpdate' in event) add(event.artifactUpdate.artifact, event.artifactUpdate.append)
    if ('statusUpdate' in event) status = event.statusUpdate.status
    if ('task' in event) {
      status = event.task.status
      for (const artifact of event.task.artifacts ?? []) add(artifact)
    }
  }
  const text = [...artifacts.values()].join('') || textOfParts(status?.message?.parts)
  return `${status?.state.replace('TASK_STATE_', '')} ${text}`
}

function textOfParts(parts: readonly Part[] = []): string {
  return parts.map((part) => ('text' in part ? part.text : '')).join('')
}

interface Output {
  readonly stdout: string
  readonly failure?: string
}

async function output(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Output> {
  try {
    const { stdout } = await run(program, args, { env, timeout: 120_000 })
    return { stdout }
  } catch (reason) {
    const {
      stdout = '',
      stderr = '',
      message,
    } = reason as Error & { readonly stdout?: string; readonly stderr?: string }
    return { stdout, failure: lastLine(stdout.includes('"error"') ? stdout : stderr || message) }
  }
}

/** The message of an error of the CLI, or the last line that is neither indented nor a bracket. */
function lastLine(text: string): string {
  const [, message] = /"message":\s*("(?:[^"\\]|\\.)*")/.exec(text) ?? []
  if (message !== undefined) return JSON.parse(message) as string
  const lines = text.split('\n').filter((line) => /^\w/.test(line))
  return lines.at(-1)?.slice(0, 300) ?? 'no output'
}
