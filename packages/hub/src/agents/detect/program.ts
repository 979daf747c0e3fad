/** Resolves a target to a program: its command line and environment. */
import { accessSync, constants, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { requireProgram } from '../programs/find-program.ts'
import { targetUrl, type DetectDeps, type DetectTarget, agentNameFrom } from './detect.ts'
import type { AgentLog } from '@parley/a2a'

export interface ResolvedProgram {
  readonly command: DetectTarget
  /** Environment during detection. */
  readonly env: Readonly<Record<string, string>>
  /** The same for the configuration: `command`, and `env` if it contains the token. */
  readonly entry: Readonly<Record<string, unknown>>
  /** Default name if the program does not report one. */
  readonly name: string
}

/** Runtimes for scripts that are not executable. */
const runtimes: readonly (readonly [RegExp, string])[] = [
  [/\.[cm]?[jt]s$/, 'node'],
  [/\.py$/, 'python3'],
]
/** Programs that download other programs before they start them. */
const packageRunners = /^(npx|bunx|uvx|pipx|pnpm|yarn|docker|podman|deno)$/

export const isCommand = (target: DetectTarget): boolean => targetUrl(target) === undefined

/** Throws DiagnosedError if the program does not exist. */
export async function resolveProgram(target: DetectTarget, { cwd, env, token }: DetectDeps): Promise<ResolvedProgram> {
  const command = withRuntime(target, cwd)
  const [program] = command
  await requireProgram(program, { cwd, env })
  const variable = /^\$\{env:(.+)\}$/.exec(token?.reference ?? '')?.[1]
  const secret = token === undefined || variable === undefined ? undefined : { variable, token }
  return {
    command,
    env: secret === undefined ? env : { ...env, [secret.variable]: secret.token.value },
    entry: {
      command: [...command],
      ...(secret === undefined ? {} : { env: { [secret.variable]: secret.token.reference } }),
    },
    name: nameOf(target),
  }
}

/** Whether the program may have to be downloaded first, which takes time. */
export function isPackageRunner([program]: DetectTarget): boolean {
  return packageRunners.test(basename(program))
}

function withRuntime(target: DetectTarget, cwd: string): DetectTarget {
  const [first] = target
  const file = resolve(cwd, first)
  const [, runtime] = runtimes.find(([ending]) => ending.test(first)) ?? []
  if (runtime === undefined || statSync(file, { throwIfNoEntry: false })?.isFile() !== true || isExecutable(file))
    return target
  return [runtime, ...target]
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Names the agent after the package or script if the program only runs it. */
function nameOf(target: DetectTarget): string {
  const [program, ...words] = target
  const isRunner = isPackageRunner(target) || /^(node|bun|python[\d.]*|sh|bash|ruby|php|java)$/.test(basename(program))
  const script = isRunner ? words.find((word) => !/^-|^(exec|dlx|run|x)$/.test(word)) : undefined
  const plain = (script ?? basename(program)).replace(/(?<=.)@[^/]*$/, '').replace(/\.[a-z]+$/i, '')
  return agentNameFrom(plain, basename(program))
}

/** A log for detection that discards everything except the last stderr line of a program. */
interface QuietLog extends AgentLog {
  readonly lastLine: string | undefined
}

export function createQuietLog(): QuietLog {
  let lastLine: string | undefined
  const record = (_: string, fields: Record<string, unknown> = {}): void => {
    const { line } = fields
    if (typeof line === 'string' && line.trim() !== '') lastLine = line.trim().slice(0, 200)
  }
  return {
    debug: record,
    info: record,
    warn: record,
    error: record,
    get lastLine() {
      return lastLine
    },
  }
}
