/** One message to a program, and what becomes of its task. The program's exit decides, not what we think of it (S0-16). */
import type { AgentFunction, Json, Report, Turn } from '@parley/a2a'
import { fail } from '@parley/a2a'
import type { KindParts } from '../kind.ts'
import type { Programs } from '../programs/leftovers.ts'
import type { Exit, Program } from '../programs/program.ts'
import { sessionKeyOf } from '../session-key.ts'
import type { CommandEntry } from './entry.ts'
import type { Folder } from './folder.ts'
import { giveFiles, makeFolder } from './folder.ts'
import type { Heard, Hearing } from './hear.ts'
import { hearAnswer, hearLines, hearText } from './hear.ts'
import { commandFor, messageLine, messageText, saysTextInArguments, sessionEnv, turnEnv, usesFolder } from './say.ts'
import type { Telling } from './say.ts'
import type { Seat, Seats } from './seats.ts'

export interface CommandParts extends Pick<KindParts, 'name' | 'bytes' | 'programEnv' | 'jsonNodes'> {
  readonly seats: Seats
  readonly programs: Programs
  readonly cwd: string
}

export function runCommand(entry: CommandEntry, parts: CommandParts): AgentFunction {
  return async function* run(turn: Turn): AsyncGenerator<Report, void, void> {
    const state = stateIn(turn.remembered)
    // Durable before the program can do anything: it is never run for a task that nobody knows of.
    await turn.checkpoint(state === undefined ? {} : { state })
    const folder = needsFolder(entry, turn) ? await makeFolder() : undefined
    try {
      const files = entry.files === 'none' ? [] : await giveFiles(turn, entry, parts, folder)
      const session = sessionKeyOf(turn, parts.name)
      yield* tell(entry, parts, { turn, session, files, dir: folder?.path, state }, folder)
    } finally {
      await folder?.remove()
    }
  }
}

async function* tell(
  entry: CommandEntry,
  parts: CommandParts,
  telling: Telling,
  folder: Folder | undefined,
): AsyncGenerator<Report, void, void> {
  const { turn } = telling
  const { signal } = turn
  const seat = await parts.seats.take(turn, () => start(entry, parts, telling))
  const stop = (): void => void seat.program.stop()
  signal.addEventListener('abort', stop, { once: true })
  let isUsable = false
  try {
    signal.throwIfAborted()
    say(entry, seat.program, telling)
    const heard = yield* hear(entry, seat, telling, folder, parts.jsonNodes)
    signal.throwIfAborted()
    isUsable = heard.end === 'done' || heard.end === 'asked'
    yield* conclude(heard, seat, turn)
  } finally {
    signal.removeEventListener('abort', stop)
    await seat.leave(isUsable && !signal.aborted)
  }
}

function start(entry: CommandEntry, { cwd, programEnv, name, programs }: CommandParts, telling: Telling): Program {
  const { log, task } = telling.turn
  const own = entry.mode === 'keep' ? sessionEnv(telling) : turnEnv(telling)
  return programs.start({
    command: entry.mode === 'keep' ? entry.command : commandFor(entry, telling),
    cwd,
    env: { ...programEnv, ...entry.env, ...own },
    graceMs: entry.killGrace,
    onError: (line) => log.info('a program said on its error output', { agent: name, taskId: task.id, line }),
    onErrorsDropped: () => log.warn('a program says more on its error output', { agent: name }),
  })
}

function say(entry: CommandEntry, program: Program, telling: Telling): void {
  const { text } = telling.turn
  if (entry.protocol === 'jsonl') program.write(messageLine(telling))
  else if (entry.mode === 'keep') program.write(messageText(text, entry.end))
  else if (!saysTextInArguments(entry)) program.write(text)
  if (entry.mode === 'turn') program.endInput()
}

function hear(
  entry: CommandEntry,
  { program, lines }: Seat,
  { turn }: Telling,
  folder: Folder | undefined,
  jsonNodes: number | undefined,
): Hearing {
  const how = { log: turn.log, limitBytes: entry.outputLimit, jsonNodes }
  if (entry.protocol === 'jsonl') {
    const readFile = async (path: string) => {
      if (folder === undefined) throw new Error('there is no folder')
      return folder.read(path, entry.outputLimit)
    }
    return hearLines(lines, readFile, how)
  }
  return entry.mode === 'keep' ? hearAnswer(lines, entry.end, how) : hearText(program.output, how)
}

async function* conclude(heard: Heard, { program }: Seat, turn: Turn): AsyncGenerator<Report, void, void> {
  const about = { taskId: turn.task.id }
  switch (heard.end) {
    case 'done':
      return
    case 'asked':
      await turn.checkpoint(heard.state === undefined ? {} : { state: heard.state })
      yield heard.question
      return
    case 'trouble':
      turn.log.warn('a program could not be listened to', { ...about, said: heard.shown, cause: heard.logged })
      yield fail(heard.shown)
      return
    case 'output': {
      const exit = await program.exited
      turn.signal.throwIfAborted()
      const sentence =
        sentenceOf(exit) ?? (heard.cut === undefined ? undefined : 'The program stopped in the middle of a line')
      if (sentence === undefined) return
      const cause = 'error' in exit ? exit.error : heard.cut
      turn.log.error('a program failed', { ...about, said: sentence, cause })
      yield fail(sentence)
    }
  }
}

/** For the caller: nothing if all is well. */
function sentenceOf(exit: Exit): string | undefined {
  if ('signal' in exit) return `The program was stopped by ${exit.signal}`
  if ('code' in exit) return exit.code === 0 ? undefined : `The program ended with exit code ${exit.code}`
  return (exit.error as NodeJS.ErrnoException).code === 'E2BIG'
    ? 'The message is too long for the program'
    : 'The program could not be started'
}

function needsFolder(entry: CommandEntry, { message }: Turn): boolean {
  if (entry.protocol === 'jsonl' || usesFolder(entry)) return true
  return entry.mode === 'turn' && entry.files === 'paths' && message.parts.some((part) => !('text' in part))
}

function stateIn(remembered: Json | undefined): Json | undefined {
  const kept = typeof remembered === 'object' && remembered !== null && !Array.isArray(remembered) ? remembered : {}
  return (kept as { readonly state?: Json }).state
}
