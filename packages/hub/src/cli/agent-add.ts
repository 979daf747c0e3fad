/** `parley agent add`: detects the agent behind a URL or a command, and writes it into the configuration. */
import { resolve } from 'node:path'
import { uniqueAgentName, agentNameFrom } from '../agents/detect/detect.ts'
import type { Detect, Detection, DetectTarget } from '../agents/detect/detect.ts'
import type { AgentKind } from '../agents/kind.ts'
import { checkConfig, configBaseDir } from '../config/check-config.ts'
import { validateAgentName } from '@parley/a2a/server'
import { CliError, type Command } from './command.ts'
import { configFile, configFlags, loadKinds, problemLines } from './cli-settings.ts'
import { programEnvironment } from './program-environment.ts'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isMap, isScalar, parseDocument, type Document, type YAMLMap } from 'yaml'

const detectTimeoutMs = 60_000

/** Loaded on demand: each detection has libraries of its own. */
const defaultDetect: Detect = async (target, parts) => (await import('../agents/detect/index.ts')).detect(target, parts)

export const agentAdd: Command = createAgentAdd(defaultDetect)

export function createAgentAdd(detect: Detect): Command {
  return {
    name: 'agent add',
    takes: '<url | command… | -- command with flags…>',
    summary: 'Detects an agent and adds it to the configuration.',
    details: [
      'Flags may be anywhere. Put a command with its own flags after --: parley agent add -- npx -y my-agent',
      '--name <name>         Default: the name that the agent reports.',
      '--kind <kind>         Skips detection: the target is the URL or command of this kind.',
      '--token-env <NAME>    The environment variable of its token. The file stores the name, not the token.',
      '-c, --config <file>   Default: parley.yaml, parley.yml or parley.json in this folder; parley.yaml is created if there is none.',
    ],
    flags: {
      ...configFlags,
      name: { type: 'string' },
      kind: { type: 'string' },
      'token-env': { type: 'string' },
    },
    acceptsCommand: true,
    async run(flags, terminal) {
      const [first, ...rest] = flags.positionals
      if (first === undefined) throw new CliError('Missing argument: a URL, or a command with its arguments.')
      const target: DetectTarget = [first, ...rest]
      const file = resolve(terminal.cwd, configFile(flags, terminal) ?? 'parley.yaml')
      const kind = flags.value('kind')
      const found =
        kind === undefined
          ? await detect(target, {
              fetch: globalThis.fetch,
              signal: AbortSignal.timeout(detectTimeoutMs),
              onProgress: (line) => terminal.printError(line),
              cwd: configBaseDir(file),
              env: programEnvironment(terminal.environment),
              ...tokenOf(flags.value('token-env'), terminal.environment),
            })
          : entryOfKind(kind, target)
      if ('reasons' in found) {
        terminal.printError(`No agent kind was detected for ${target.join(' ')}:`)
        for (const reason of found.reasons) terminal.printError(`  ${reason}`)
        terminal.printError('Choose one with --kind, or write the entry by hand: see docs/run-the-hub.md.')
        return 1
      }
      const name = flags.value('name') ?? uniqueAgentName(found.name, agentNamesIn(file))
      requireValidEntry(name, found, await loadKinds())
      writeAgentEntry(file, name, found)
      terminal.print(`Added ${name} (${found.kind}) to ${file}.`)
      for (const note of found.notes ?? []) terminal.print(note)
      return 0
    },
  }
}

function tokenOf(name: string | undefined, environment: Readonly<Record<string, string | undefined>>) {
  if (name === undefined) return {}
  const value = environment[name]
  if (value === undefined) throw new CliError(`${name} is not set in the environment.`)
  return { token: { value, reference: `\${env:${name}}` } }
}

type DetectedAgent = Extract<Detection, { kind: string }>

function entryOfKind(kind: string, [first, ...rest]: DetectTarget): DetectedAgent {
  const isUrl = /^(https?|wss?):\/\//.test(first)
  const entry = kind === 'module' ? { path: first } : isUrl ? { url: first } : { command: [first, ...rest] }
  const name = agentNameFrom(isUrl ? new URL(first).hostname : first.replace(/\.[a-z]+$/i, ''), kind)
  return { kind, name, entry: kind === 'openai' ? { baseUrl: first } : entry }
}

/** Checked before writing: a valid file stays valid. */
function requireValidEntry(name: string, { kind, entry }: DetectedAgent, kinds: readonly AgentKind[]): void {
  const problem = validateAgentName(name)
  if (problem !== undefined) throw new CliError(`Invalid agent name ${name}: ${problem}. Choose another with --name.`)
  const checked = checkConfig({ agents: { [name]: { kind, ...entry } } }, { kinds, baseDir: '.' })
  if ('problems' in checked) throw new CliError(problemLines(checked.problems, undefined).join('\n'))
}

/** Adds an agent to a configuration file and leaves everything else in it unchanged, comments included. */
interface NewAgentEntry {
  readonly kind: string
  readonly entry: Readonly<Record<string, unknown>>
}

/** Returns the text of the file with the entry added. */
export function insertAgentEntry(text: string, name: string, { kind, entry }: NewAgentEntry): string {
  const document: Document = parseDocument(text)
  if (document.errors.length > 0) throw new CliError('The configuration is not valid YAML: see `parley config check`.')
  if (document.contents === null) document.contents = document.createNode({})
  if (!isMap(document.contents)) throw new CliError('The configuration is not a mapping: see `parley config check`.')
  const agents = agentsIn(document)
  if (agents.has(name)) throw new CliError(`The agent ${name} already exists: choose another name with --name.`)
  const node = document.createNode({ kind, ...entry })
  // In the style of its neighbours.
  const first = agents.items[0]?.value
  if (isMap(first) && first.flow === true) node.flow = true
  agents.set(name, node)
  return document.toString({ lineWidth: 0 })
}

function agentsIn(document: Document): YAMLMap {
  const found = document.get('agents')
  if (isMap(found)) return found
  if (found !== undefined && found !== null) throw new CliError('`agents` is not a mapping of names to entries.')
  const made = document.createNode({}) as YAMLMap
  document.set('agents', made)
  return made
}

/** The agent names in use. Empty for a file that does not exist or cannot be parsed: writing to it reports the error. */
function agentNamesIn(file: string): readonly string[] {
  if (!existsSync(file)) return []
  // JSON is YAML, too.
  const agents = parseDocument(readFileSync(file, 'utf8')).get('agents')
  return isMap(agents) ? agents.items.map(({ key }) => String(isScalar(key) ? key.value : key)) : []
}

/** JSON stays JSON. */
export function writeAgentEntry(file: string, name: string, entry: NewAgentEntry): void {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const after = file.endsWith('.json')
    ? insertJsonAgentEntry(before, name, entry)
    : insertAgentEntry(before, name, entry)
  // Atomically: a hub that watches the file must not read half of it.
  const temporaryFile = `${file}.new`
  writeFileSync(temporaryFile, after)
  renameSync(temporaryFile, file)
}

function insertJsonAgentEntry(text: string, name: string, { kind, entry }: NewAgentEntry): string {
  const tree = (text.trim() === '' ? {} : JSON.parse(text)) as { agents?: Record<string, unknown> }
  if (tree.agents?.[name] !== undefined) {
    throw new CliError(`The agent ${name} already exists: choose another name with --name.`)
  }
  return `${JSON.stringify({ ...tree, agents: { ...tree.agents, [name]: { kind, ...entry } } }, null, 2)}\n`
}
