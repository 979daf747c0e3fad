/** A program as an agent: run for each message, or kept for a conversation; spoken to in plain text or in JSON lines. */
import { resolve } from 'node:path'
import type { AgentKind } from '../kind.ts'
import { checkProgram } from '../programs/find.ts'
import { openPrograms } from '../programs/leftovers.ts'
import { sessionKeyOf } from '../session-key.ts'
import { commandEntry } from './entry.ts'
import type { CommandEntry } from './entry.ts'
import { runCommand } from './run.ts'
import { keptSeats, newSeats } from './seats.ts'
import { sweepTurnFolders } from './turn-folders.ts'

export const commandKind: AgentKind<CommandEntry> = {
  kind: 'command',
  openAfterMs: 0,
  schema: commandEntry,
  open(entry, parts) {
    const { processes, outputLimit: lineBytes, idleTimeout: idleMs, killGrace: graceMs } = entry
    const cwd = resolve(parts.baseDir, entry.cwd ?? '.')
    const seats =
      entry.mode === 'turn'
        ? newSeats({ processes, lineBytes, graceMs })
        : keptSeats({ processes, lineBytes, graceMs, idleMs, keyOf: (turn) => sessionKeyOf(turn, parts.name) })
    const { name, bytes, programEnv, log } = parts
    const programs = openPrograms(parts.notes, log)
    // Not waited for: a program of before has nothing to do with the next message.
    const cleared = programs
      .endLeftovers(graceMs)
      .catch((cause: unknown) => log.warn('programs that an earlier hub left could not be looked for', { cause }))
    const swept = sweepTurnFolders().catch((cause: unknown) =>
      log.warn('folders that an earlier hub left could not be looked for', { cause }),
    )
    const run = runCommand(entry, { name, bytes, programEnv, seats, cwd, programs })
    return {
      agent: { resume: entry.resume, run },
      card: { streaming: true, ...inputModes(entry) },
      // A line `assistant` says one thing.
      textsAreMessages: entry.protocol === 'jsonl',
      health: async () => checkProgram(entry.command[0], { cwd, env: { ...programEnv, ...entry.env } }),
      async close() {
        await seats.close()
        await Promise.all([cleared, swept, programs.settled()])
      },
    }
  },
}

/** What it cannot be told, its card does not offer; nothing where it takes anything. */
function inputModes({ protocol, mode, files }: CommandEntry): { readonly inputModes: readonly string[] } | undefined {
  if (protocol === 'text' && (mode === 'keep' || files === 'none')) return { inputModes: ['text/plain'] }
  return files === 'none' ? { inputModes: ['text/plain', 'application/json'] } : undefined
}
