/** `parley agent add`: finds out what is behind a url or a command, and writes it into the configuration. */
import { resolve } from 'node:path'
import type { Detect, Detected, Target } from '../agents/detect/detect.ts'
import { freeName, nameFrom } from '../agents/detect/name.ts'
import type { AgentKind } from '../agents/kind.ts'
import { checkConfig, baseOf } from '../config/check.ts'
import { whatIsWrongWithName } from '@parley/a2a/server'
import { Complaint } from './command.ts'
import type { Command } from './command.ts'
import { configFile, configFlags, loadKinds, problemLines } from './settings.ts'
import { programEnvironment } from './program-environment.ts'
import { addEntry, namesIn } from './write-entry.ts'

const patienceMs = 60_000

/** Loaded when it is needed: each way to find out brings its own libraries along. */
const usualDetect: Detect = async (target, parts) => (await import('../agents/detect/index.ts')).detect(target, parts)

export const agentAdd: Command = agentAddWith(usualDetect)

export function agentAddWith(detect: Detect): Command {
  return {
    name: 'agent add',
    takes: '<url | command… | -- command with flags…>',
    summary: 'Finds out what an agent is and adds it to the configuration.',
    details: [
      'Flags may stand anywhere. A command with flags of its own stands behind --: parley agent add -- npx -y my-agent',
      '--name <name>         Default: as the agent calls itself.',
      '--kind <kind>         Does not find out, but takes your word: the target is its url or its command.',
      '--token-env <NAME>    The variable of the environment that holds its token. The file names it and not the token.',
      '-c, --config <file>   Default: parley.yaml, parley.yml or parley.json in this folder; parley.yaml is made if there is none.',
    ],
    flags: {
      ...configFlags,
      name: { type: 'string' },
      kind: { type: 'string' },
      'token-env': { type: 'string' },
    },
    takesCommand: true,
    async run(flags, terminal) {
      const [first, ...rest] = flags.words
      if (first === undefined) throw new Complaint('Say what to add: a url, or a command with its arguments.')
      const target: Target = [first, ...rest]
      const file = resolve(terminal.cwd, configFile(flags, terminal) ?? 'parley.yaml')
      const kind = flags.text('kind')
      const found =
        kind === undefined
          ? await detect(target, {
              fetch: globalThis.fetch,
              signal: AbortSignal.timeout(patienceMs),
              say: (line) => terminal.complain(line),
              cwd: baseOf(file),
              env: programEnvironment(terminal.environment),
              ...tokenOf(flags.text('token-env'), terminal.environment),
            })
          : byHand(kind, target)
      if ('reasons' in found) {
        terminal.complain(`Nobody knows what ${target.join(' ')} is:`)
        for (const reason of found.reasons) terminal.complain(`  ${reason}`)
        terminal.complain('Say it yourself with --kind, or write the entry by hand: see docs/run-the-hub.md.')
        return 1
      }
      const name = flags.text('name') ?? freeName(found.name, namesIn(file))
      requireRight(name, found, await loadKinds())
      addEntry(file, name, found)
      terminal.say(`${name} (${found.kind}) is in ${file}.`)
      for (const note of found.notes ?? []) terminal.say(note)
      return 0
    },
  }
}

function tokenOf(name: string | undefined, environment: Readonly<Record<string, string | undefined>>) {
  if (name === undefined) return {}
  const value = environment[name]
  if (value === undefined) throw new Complaint(`The environment has no ${name}.`)
  return { token: { value, reference: `\${env:${name}}` } }
}

type Found = Extract<Detected, { kind: string }>

function byHand(kind: string, [first, ...rest]: Target): Found {
  const isUrl = /^(https?|wss?):\/\//.test(first)
  const entry = kind === 'module' ? { path: first } : isUrl ? { url: first } : { command: [first, ...rest] }
  const name = nameFrom(isUrl ? new URL(first).hostname : first.replace(/\.[a-z]+$/i, ''), kind)
  return { kind, name, entry: kind === 'openai' ? { baseUrl: first } : entry }
}

/** Before it is written: a file that was right stays right. */
function requireRight(name: string, { kind, entry }: Found, kinds: readonly AgentKind[]): void {
  const wrong = whatIsWrongWithName(name)
  if (wrong !== undefined) throw new Complaint(`${name} cannot be its name: ${wrong}. Choose one with --name.`)
  const checked = checkConfig({ agents: { [name]: { kind, ...entry } } }, { kinds, baseDir: '.' })
  if ('problems' in checked) throw new Complaint(problemLines(checked.problems, undefined).join('\n'))
}
