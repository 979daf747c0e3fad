/**
 * What the check of a requirement works with: the program in a sandbox, fixture agents, and the record of every command with what
 * it showed. The record is the evidence of the compliance report, so nothing of a single run is in it: no port, no id, no folder.
 */
import assert from 'node:assert/strict'
import { createSandbox, type ProgramRun, type RunOptions, type RunningProgram } from '../program/a2a-program.ts'
import { startFixtureAgent, type FixtureAgent, type FixtureOptions } from '../fixture/fixture-agent.ts'
import type { RequirementId } from './registry.ts'

export interface EvidenceStep {
  /** Absent for what is shown without a command: a file of the package. */
  readonly command?: string
  readonly exit?: number | string
  readonly shows: string
}

export interface StepOptions extends RunOptions {
  /** What the command shows, as a sentence without a subject: "waits until the task is COMPLETED". */
  readonly shows: string
  /** Default 0. */
  readonly exit?: number
}

export interface Workbench extends AsyncDisposable {
  readonly folder: string
  readonly home: string
  /** Runs a command to its end, and asserts its exit code. */
  a2a(args: readonly string[], step: StepOptions): Promise<ProgramRun>
  /** Starts a command that the check talks to. `finish` records it. */
  start(args: readonly string[], options?: RunOptions & { readonly keepInputOpen?: boolean }): Promise<RunningProgram>
  /** The same in a pseudo-terminal: its stdout has everything that the terminal shows. */
  startInTerminal(args: readonly string[]): Promise<RunningProgram>
  finish(running: RunningProgram, step: Pick<StepOptions, 'shows' | 'exit'>): Promise<ProgramRun>
  /** An agent of its own, closed with the check. */
  agent(options?: FixtureOptions): Promise<FixtureAgent>
  /** Closes something with the check. */
  closeLater(resource: { close(): unknown }): void
  /** Records what is shown without a command. */
  shows(sentence: string): void
  readonly steps: readonly EvidenceStep[]
}

export type Check = (bench: Workbench) => Promise<void>
export type Checks = Readonly<Partial<Record<RequirementId, Check>>>

export async function createWorkbench(): Promise<Workbench> {
  const sandbox = await createSandbox()
  const closers: (() => unknown)[] = []
  const steps: EvidenceStep[] = []
  const recordRun = (run: ProgramRun, { shows, exit = 0 }: Pick<StepOptions, 'shows' | 'exit'>, env = {}): void => {
    const command = commandLine(run.args, env, sandbox)
    assert.equal(run.code, exit, `${command} exited with ${run.code ?? run.signal}\n${run.stdout}\n${run.stderr}`)
    steps.push({ command, exit, shows })
  }
  return {
    folder: sandbox.folder,
    home: sandbox.home,
    steps,
    start: (args, options) => sandbox.start(args, options),
    startInTerminal: (args) => sandbox.startInTerminal(args),
    async a2a(args, step) {
      const run = await sandbox.run(args, step)
      recordRun(run, step, step.env)
      return run
    },
    async finish(running, step) {
      const run = await running.ended
      recordRun(run, step)
      return run
    },
    async agent(options) {
      const agent = await startFixtureAgent(options)
      closers.push(() => agent.close())
      return agent
    },
    closeLater: (resource) => void closers.push(() => resource.close()),
    shows: (sentence) => void steps.push({ shows: sentence }),
    async [Symbol.asyncDispose]() {
      await sandbox[Symbol.asyncDispose]()
      for (const close of closers.reverse()) await close()
    },
  }
}

/** The command as a reader could type it, with names for what differs between two runs. */
function commandLine(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { folder, home }: { readonly folder: string; readonly home: string },
): string {
  const words = ['a2a', ...args].map((word) =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`,
  )
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  return [...variables, ...words]
    .join(' ')
    .replaceAll(folder, '.')
    .replaceAll(home, '~')
    .replaceAll(/(https?:\/\/)?127\.0\.0\.1:\d+/g, (_all, scheme: string | undefined) => `${scheme ?? ''}<host>`)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/--page-token \S+/g, '--page-token <token>')
    .replaceAll('\n', ' ')
}

/** The task of a `send` with `-o json`. */
export interface JsonTask {
  readonly id: string
  readonly contextId: string
  readonly status: { readonly state: string; readonly message?: { readonly parts: readonly JsonPart[] } }
  readonly artifacts?: readonly { readonly artifactId: string; readonly parts: readonly JsonPart[] }[]
  readonly history?: readonly {
    readonly role: string
    readonly messageId: string
    readonly parts: readonly JsonPart[]
  }[]
}
export interface JsonPart {
  readonly text?: string
  readonly raw?: string
  readonly url?: string
  readonly data?: unknown
  readonly filename?: string
  readonly mediaType?: string
}
export interface JsonError {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly hint?: string | null
    readonly a2aCode?: string | number | null
  }
}

/** Starts a task and returns it, without a line in the evidence. */
export async function startTask(bench: Workbench, agent: FixtureAgent, text: string): Promise<JsonTask> {
  const running = await bench.start(['send', '-a', agent.url, '-o', 'json', '--async', text])
  const run = await running.ended
  assert.equal(run.code, 0, run.stdout + run.stderr)
  return run.json<{ task: JsonTask }>().task
}

/** The same, when the task has ended or waits for its caller. */
export async function finishedTask(bench: Workbench, agent: FixtureAgent, text: string): Promise<JsonTask> {
  const run = await (await bench.start(['send', '-a', agent.url, '-o', 'json', text])).ended
  assert.equal(run.code, 0, run.stdout + run.stderr)
  return run.json<{ task: JsonTask }>().task
}
