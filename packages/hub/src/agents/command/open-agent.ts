/** Opens an agent of the kind `command`. Loaded with the first of them. */
import { resolve } from 'node:path'
import type { AgentServices, OpenAgent } from '../kind.ts'
import { requireProgram } from '../programs/find-program.ts'
import { createProgramManager } from '../programs/program-manager.ts'
import type { CommandEntry } from './entry.ts'
import { commandAgent } from './run.ts'
import { createSessionProcessPool, createTurnProcessPool } from './process-pool.ts'
import { removeStaleTurnFolders } from './turn-folder.ts'

export function openCommandAgent(entry: CommandEntry, services: AgentServices): OpenAgent {
  const { processes, outputLimit: lineBytes, idleTimeout: idleMs, killGrace: graceMs } = entry
  const cwd = resolve(services.baseDir, entry.cwd ?? '.')
  const pool =
    entry.mode === 'turn'
      ? createTurnProcessPool({ processes, lineBytes, graceMs })
      : createSessionProcessPool({
          processes,
          lineBytes,
          graceMs,
          idleMs,
          keyOf: (turn) => turn.sessionKey,
        })
  const { name, readPart, programEnv, log } = services
  const programs = createProgramManager(services.kv, log)
  // Not awaited: an orphaned program does not affect the next message.
  const orphansEnded = programs
    .endOrphans(graceMs)
    .catch((cause: unknown) => log.warn('programs left by an earlier hub could not be listed', { cause }))
  const foldersRemoved = removeStaleTurnFolders().catch((cause: unknown) =>
    log.warn('folders left by an earlier hub could not be listed', { cause }),
  )
  const run = commandAgent(entry, { name, readPart, programEnv, pool, cwd, programs })
  return {
    agent: { resume: entry.resume, run },
    card: { streaming: true, ...inputModes(entry) },
    // Each `assistant` line is a message of its own.
    hasMessagePerText: entry.protocol === 'jsonl',
    health: async () => requireProgram(entry.command[0], { cwd, env: { ...programEnv, ...entry.env } }),
    async close() {
      await pool.close()
      await Promise.all([orphansEnded, foldersRemoved, programs.settled()])
    },
  }
}

/** Omits input modes that the program cannot accept; undefined means all. */
function inputModes({ protocol, mode, files }: CommandEntry): { readonly inputModes: readonly string[] } | undefined {
  if (protocol === 'text' && (mode === 'keep' || files === 'none')) return { inputModes: ['text/plain'] }
  return files === 'none' ? { inputModes: ['text/plain', 'application/json'] } : undefined
}
