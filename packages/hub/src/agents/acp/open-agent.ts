/** Opens an agent of the kind `acp`. Loaded with the first of them. */
import { resolve } from 'node:path'
import { A2AError } from '@parley/a2a'
import type { AgentServices, OpenAgent, PartialCard } from '../kind.ts'
import { operatorMessage } from '../../json/operator-message.ts'
import { requireProgram } from '../programs/find-program.ts'
import { createProgramManager } from '../programs/program-manager.ts'
import { createKeyedMutex } from '../programs/semaphore.ts'
import type { AcpEntry } from './entry.ts'
import { createFileMethods } from './files.ts'
import { createAcpPeerSupervisor } from './peer-supervisor.ts'
import { type AcpPeer, openAcpPeer } from './peer.ts'
import { createAcpAgent } from './run.ts'
import { createAcpSessions } from './sessions.ts'
import { createSessionRouter } from './session-router.ts'
import { createTerminalMethods } from './terminals.ts'

export function openAcpAgent(entry: AcpEntry, services: AgentServices): OpenAgent {
  const { name, readPart, log, now, monotonicNow, baseDir, kv, jsonNodes } = services
  const env = { ...services.programEnv, ...entry.env }
  // If each session has its own folder, the program itself runs in the base folder.
  const cwd = entry.cwd.includes('{session}') ? baseDir : resolve(baseDir, entry.cwd)
  const programs = createProgramManager(kv, log)
  const orphansEnded = programs
    .endOrphans(entry.killGrace)
    .catch((cause: unknown) => log.warn('programs left by an earlier hub could not be listed', { cause }))
  const router = createSessionRouter()
  const sessions = createAcpSessions({
    ...{ entry, baseDir, kv, log, now },
    listen: (sessionId, onSessionUpdate) => router.listen(sessionId, { onSessionUpdate }),
  })
  const { folderOf } = sessions
  const files = entry.files ? createFileMethods(folderOf) : undefined
  const terminals = entry.terminals
    ? createTerminalMethods({ programs, env, graceMs: entry.killGrace, folderOf })
    : undefined
  const { onUpdate, onPermission } = router
  /** Why its last start failed. */
  let startFailure: A2AError | undefined
  const supervisor = createAcpPeerSupervisor({
    monotonicNow,
    async open() {
      // An orphan of an earlier hub may still hold resources that this program needs.
      await orphansEnded
      const peer = await openAcpPeer({
        entry,
        env,
        cwd,
        programs,
        log,
        name,
        jsonNodes,
        onUpdate,
        onPermission,
        files,
        terminals,
      })
      startFailure = undefined
      return peer
    },
    // The caller receives a sentence; the cause is for the operator.
    onFailure(cause) {
      // Health checks start it again and again: each reason is logged once.
      if (operatorMessage(cause) !== operatorMessage(startFailure))
        log.error('the program of an agent could not be started', { agent: name, cause })
      startFailure = A2AError.from(cause)
    },
  })
  const { run, reattach } = createAcpAgent({
    entry,
    name,
    readPart,
    supervisor,
    sessions,
    router,
    sessionLocks: createKeyedMutex(),
  })
  return {
    agent: entry.resume === 'fail' ? { resume: 'fail', run } : { resume: 'reattach', run, reattach },
    card: { streaming: true },
    fetchCard: async (signal) => cardOf(await supervisor.peer(signal)),
    async health(signal) {
      if (supervisor.current !== undefined) return
      await requireProgram(entry.command[0], { cwd, env })
      if (startFailure === undefined) return
      if (supervisor.isBackingOff) throw startFailure
      // A program that did not start is not up. It starts here once it is repaired.
      await supervisor.peer(signal)
    },
    async close() {
      sessions.close()
      await Promise.all([supervisor.close(), terminals?.close()])
      await Promise.all([orphansEnded, programs.settled()])
    },
  }
}

/** The card fields from the agent's own description. */
function cardOf({ info }: AcpPeer): PartialCard {
  return info === undefined || info === null ? {} : { name: info.title ?? info.name, version: info.version }
}
