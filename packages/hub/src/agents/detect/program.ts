/** The program that a target is: how it is started, and with which environment. */
import { accessSync, constants, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { findProgram } from '../programs/find.ts'
import { addressIn } from './address.ts'
import type { DetectParts, Target } from './detect.ts'
import { nameFrom } from './name.ts'

export interface FoundProgram {
  readonly command: Target
  /** What it sees while it is tried. */
  readonly env: Readonly<Record<string, string>>
  /** The same for the configuration: `command`, and `env` where the token is in it. */
  readonly entry: Readonly<Record<string, unknown>>
  /** What it may be called, if it does not say itself. */
  readonly name: string
}

/** What runs scripts that do not run by themselves. */
const runtimes: readonly (readonly [RegExp, string])[] = [
  [/\.[cm]?[jt]s$/, 'node'],
  [/\.py$/, 'python3'],
]
/** Programs that fetch others before they start them. */
const fetchers = /^(npx|bunx|uvx|pipx|pnpm|yarn|docker|podman|deno)$/

export const isCommand = (target: Target): boolean => addressIn(target) === undefined

/** Throws if there is no such program. */
export async function programIn(target: Target, { cwd, env, token }: DetectParts): Promise<FoundProgram> {
  const command = runnable(target, cwd)
  const [program] = command
  if ((await findProgram(program, { cwd, env })) === undefined) throw new Error(`there is no program ${program}`)
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

/** Whether it may have to be fetched first, which takes its time. */
export function isFetched([program]: Target): boolean {
  return fetchers.test(basename(program))
}

function runnable(target: Target, cwd: string): Target {
  const [first] = target
  const file = resolve(cwd, first)
  const [, runtime] = runtimes.find(([ending]) => ending.test(first)) ?? []
  if (runtime === undefined || statSync(file, { throwIfNoEntry: false })?.isFile() !== true || mayRun(file))
    return target
  return [runtime, ...target]
}

function mayRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** After the package or the script, where a program only runs it. */
function nameOf(target: Target): string {
  const [program, ...words] = target
  const isRunner = isFetched(target) || /^(node|bun|python[\d.]*|sh|bash|ruby|php|java)$/.test(basename(program))
  const script = isRunner ? words.find((word) => !/^-|^(exec|dlx|run|x)$/.test(word)) : undefined
  const plain = (script ?? basename(program)).replace(/(?<=.)@[^/]*$/, '').replace(/\.[a-z]+$/i, '')
  return nameFrom(plain, basename(program))
}
