/** Sends one message to a program and derives the state of its task. The exit code of the program decides (S0-16). */
import { fail, type AgentFunction, type Json, type Report, type Turn } from '@parley/a2a'
import { isStruct } from '@parley/a2a/internal'
import type { AgentServices } from '../kind.ts'
import type { ProgramManager } from '../programs/program-manager.ts'
import type { ProgramExit, Program } from '../programs/program.ts'
import type { CommandEntry } from './entry.ts'
import { type TurnFolder, provideFiles, createTurnFolder } from './turn-folder.ts'
import { type OutputEnd, type OutputReports, readTextAnswer, readJsonl, readText } from './read-output.ts'
import type { ProcessLease, ProcessPool } from './process-pool.ts'
import {
  type ProgramInput,
  commandLine,
  hasTextArgument,
  hasFolderArgument,
  sessionEnv,
  turnEnv,
  messageLine,
  messageText,
} from './write-input.ts'

export interface CommandDeps extends Pick<AgentServices, 'name' | 'readPart' | 'programEnv' | 'jsonNodes'> {
  readonly pool: ProcessPool
  readonly programs: ProgramManager
  readonly cwd: string
}

export function commandAgent(entry: CommandEntry, deps: CommandDeps): AgentFunction {
  return async function* run(turn: Turn): AsyncGenerator<Report, void, void> {
    const state = rememberedState(turn.lastCheckpoint)
    // Durable before the program starts: no program ever runs for an unknown task.
    await turn.checkpoint(state === undefined ? {} : { state })
    const folder = needsFolder(entry, turn) ? await createTurnFolder() : undefined
    try {
      const files = entry.files === 'none' ? [] : await provideFiles(turn, entry, deps, folder)
      const session = turn.sessionKey
      yield* runProgram(entry, deps, { turn, session, files, dir: folder?.path, state }, folder)
    } finally {
      await folder?.remove()
    }
  }
}

async function* runProgram(
  entry: CommandEntry,
  deps: CommandDeps,
  input: ProgramInput,
  folder: TurnFolder | undefined,
): AsyncGenerator<Report, void, void> {
  const { turn } = input
  const { signal } = turn
  const lease = await deps.pool.acquire(turn, () => startTurnProgram(entry, deps, input))
  const stop = (): void => void lease.program.stop()
  signal.addEventListener('abort', stop, { once: true })
  let isUsable = false
  try {
    signal.throwIfAborted()
    writeMessage(entry, lease.program, input)
    const outputEnd = yield* readReply(entry, lease, input, folder, deps.jsonNodes)
    signal.throwIfAborted()
    isUsable = outputEnd.end === 'done' || outputEnd.end === 'asked'
    yield* reportEnd(outputEnd, lease, turn)
  } finally {
    signal.removeEventListener('abort', stop)
    await lease.release(isUsable && !signal.aborted)
  }
}

function startTurnProgram(
  entry: CommandEntry,
  { cwd, programEnv, name, programs }: CommandDeps,
  input: ProgramInput,
): Program {
  const { log, task } = input.turn
  const turnVariables = entry.mode === 'keep' ? sessionEnv(input) : turnEnv(input)
  return programs.start({
    command: entry.mode === 'keep' ? entry.command : commandLine(entry, input),
    cwd,
    env: { ...programEnv, ...entry.env, ...turnVariables },
    graceMs: entry.killGrace,
    onError: (line) => log.info('a program wrote to stderr', { agent: name, taskId: task.id, line }),
    onErrorsDropped: () => log.warn('a program writes more to stderr', { agent: name }),
  })
}

function writeMessage(entry: CommandEntry, program: Program, input: ProgramInput): void {
  const { text } = input.turn
  if (entry.protocol === 'jsonl') program.write(messageLine(input))
  else if (entry.mode === 'keep') program.write(messageText(text, entry.end))
  else if (!hasTextArgument(entry)) program.write(text)
  if (entry.mode === 'turn') program.endInput()
}

function readReply(
  entry: CommandEntry,
  { program, lines }: ProcessLease,
  { turn }: ProgramInput,
  folder: TurnFolder | undefined,
  jsonNodes: number | undefined,
): OutputReports {
  const options = { log: turn.log, limitBytes: entry.outputLimit, jsonNodes }
  if (entry.protocol === 'jsonl') {
    const readFile = async (path: string) => {
      if (folder === undefined) throw new Error('the turn has no folder')
      return folder.read(path, entry.outputLimit)
    }
    return readJsonl(lines, readFile, options)
  }
  return entry.mode === 'keep' ? readTextAnswer(lines, entry.end, options) : readText(program.output, options)
}

async function* reportEnd(
  outputEnd: OutputEnd,
  { program }: ProcessLease,
  turn: Turn,
): AsyncGenerator<Report, void, void> {
  const about = { taskId: turn.task.id }
  switch (outputEnd.end) {
    case 'done':
      return
    case 'asked':
      await turn.checkpoint(outputEnd.state === undefined ? {} : { state: outputEnd.state })
      yield outputEnd.question
      return
    case 'trouble':
      turn.log.warn('the output of a program could not be read', {
        ...about,
        said: outputEnd.shown,
        cause: outputEnd.logged,
      })
      yield fail(outputEnd.shown, { cause: outputEnd.logged })
      return
    case 'output': {
      const exit = await program.exited
      turn.signal.throwIfAborted()
      const sentence =
        exitMessage(exit) ?? (outputEnd.cut === undefined ? undefined : 'The program exited in the middle of a line')
      if (sentence === undefined) return
      const cause = 'error' in exit ? exit.error : outputEnd.cut
      turn.log.error('a program failed', { ...about, said: sentence, cause })
      // Its stderr is in the log already.
      yield fail(sentence, { cause: cause ?? ((await program.lastErrors()) || 'the program wrote nothing to stderr') })
    }
  }
}

/** The message for the caller; undefined if the program succeeded. */
function exitMessage(exit: ProgramExit): string | undefined {
  if ('signal' in exit) return `The program was stopped by ${exit.signal}`
  if ('code' in exit) return exit.code === 0 ? undefined : `The program ended with exit code ${exit.code}`
  return (exit.error as NodeJS.ErrnoException).code === 'E2BIG'
    ? 'The message is too long for the program'
    : 'The program could not be started'
}

function needsFolder(entry: CommandEntry, { message }: Turn): boolean {
  if (entry.protocol === 'jsonl' || hasFolderArgument(entry)) return true
  return entry.mode === 'turn' && entry.files === 'paths' && message.parts.some((part) => !('text' in part))
}

function rememberedState(remembered: Json | undefined): Json | undefined {
  return isStruct(remembered) ? remembered['state'] : undefined
}
