/** A program that speaks the Agent Client Protocol, as editors run it, as an agent: one program, a session a conversation. */
import { resolve } from 'node:path'
import type { AgentKind, CardPart } from '../kind.ts'
import { checkProgram } from '../programs/find.ts'
import { openPrograms } from '../programs/leftovers.ts'
import { createQueues } from '../programs/queues.ts'
import type { AcpEntry } from './entry.ts'
import { acpEntry } from './entry.ts'
import { fileMethods } from './files.ts'
import { createKeeper } from './keeper.ts'
import type { Peer } from './peer.ts'
import { openPeer } from './peer.ts'
import { runAcp } from './run.ts'
import { createSessions } from './sessions.ts'
import { createSwitchboard } from './switchboard.ts'
import { terminalMethods } from './terminals.ts'

export const acpKind: AgentKind<AcpEntry> = {
  kind: 'acp',
  openAfterMs: 0,
  schema: acpEntry,
  open(entry, parts) {
    const { name, bytes, log, now, monotonicNow, baseDir, notes, jsonNodes } = parts
    const env = { ...parts.programEnv, ...entry.env }
    // Where each session has its own folder, the program itself is in none of them.
    const cwd = entry.cwd.includes('{session}') ? baseDir : resolve(baseDir, entry.cwd)
    const programs = openPrograms(notes, log)
    const cleared = programs
      .endLeftovers(entry.killGrace)
      .catch((cause: unknown) => log.warn('programs that an earlier hub left could not be looked for', { cause }))
    const board = createSwitchboard()
    const sessions = createSessions({
      ...{ entry, baseDir, notes, log, now },
      listen: (sessionId, heard) => board.listen(sessionId, { heard }),
    })
    const { folderOf } = sessions
    const files = entry.files ? fileMethods(folderOf) : undefined
    const terminals = entry.terminals
      ? terminalMethods({ programs, env, graceMs: entry.killGrace, folderOf })
      : undefined
    const { onUpdate, onPermission } = board
    const keeper = createKeeper({
      monotonicNow,
      async open() {
        // One of before may still hold what this one needs.
        await cleared
        return openPeer({ entry, env, cwd, programs, log, name, jsonNodes, onUpdate, onPermission, files, terminals })
      },
      // Whoever waits for it is told a sentence; why it is so is for the operator.
      onFailure: (cause) => log.error('the program of an agent could not be started', { agent: name, cause }),
    })
    const { run, reattach } = runAcp({ entry, name, bytes, keeper, sessions, board, queues: createQueues() })
    return {
      agent: entry.resume === 'fail' ? { resume: 'fail', run } : { resume: 'reattach', run, reattach },
      card: { streaming: true },
      look: async (signal) => cardOf(await keeper.peer(signal)),
      async health() {
        if (keeper.current === undefined) await checkProgram(entry.command[0], { cwd, env })
      },
      async close() {
        sessions.close()
        await Promise.all([keeper.close(), terminals?.close()])
        await Promise.all([cleared, programs.settled()])
      },
    }
  },
}

/** As the agent introduces itself. */
function cardOf({ info }: Peer): CardPart {
  return info === undefined || info === null ? {} : { name: info.title ?? info.name, version: info.version }
}
