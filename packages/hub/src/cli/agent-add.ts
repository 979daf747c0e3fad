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
import { isMap, isScalar, parseDocument } from 'yaml'
import { setAgentEntry } from '../config/edit-agent-entry.ts'

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
      const name = flags.value('name') ?? uniqueAgentName(found.name, agentNamesIn(textOfFile(file)))
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

type NewAgentEntry = Pick<DetectedAgent, 'kind' | 'entry'>

/** Returns the text of the file with the entry added. JSON stays JSON. */
export function insertAgentEntry(text: string, name: string, { kind, entry }: NewAgentEntry, isJson = false): string {
  if (agentNamesIn(text).includes(name)) {
    throw new CliError(`The agent ${name} already exists: choose another name with --name.`)
  }
  if (!isJson) requireEditableYaml(text)
  return setAgentEntry(text, name, { kind, ...entry }, isJson)
}

/** With unique keys: an entry must not be added to one of two `agents`. */
function requireEditableYaml(text: string): void {
  const { errors, contents } = parseDocument(text)
  if (errors.length > 0) throw new CliError('The configuration is not valid YAML: see `parley config check`.')
  if (contents !== null && !isMap(contents))
    throw new CliError('The configuration is not a mapping: see `parley config check`.')
}

/** The agent names in use. Empty for a text that cannot be parsed: writing to it reports the error. JSON is YAML, too. */
function agentNamesIn(text: string): readonly string[] {
  const agents = parseDocument(text).get('agents')
  return isMap(agents) ? agents.items.map(({ key }) => String(isScalar(key) ? key.value : key)) : []
}

export function writeAgentEntry(file: string, name: string, entry: NewAgentEntry): void {
  const after = insertAgentEntry(textOfFile(file), name, entry, file.endsWith('.json'))
  // Atomically: a hub that watches the file must not read half of it.
  const temporaryFile = `${file}.new`
  writeFileSync(temporaryFile, after)
  renameSync(temporaryFile, file)
}

function textOfFile(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}
