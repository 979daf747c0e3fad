/**
 * Detects a program that implements the Agent Client Protocol, by its response to `initialize`. It opens no session and sends
 * no prompt.
 */
import { abortable } from '@parley/a2a/internal'
import { memoryKeyValueStore } from '@parley/a2a/stores'
import { acpEntry } from '../acp/entry.ts'
import { openAcpPeer } from '../acp/peer.ts'
import { cancelledPermission } from '../acp/permission.ts'
import { createProgramManager } from '../programs/program-manager.ts'
import { type Detector, type DetectTimes, createTimeLimit, agentNameFrom } from './detect.ts'
import { isCommand, isPackageRunner, resolveProgram, createQuietLog } from './program.ts'

export function acpDetector(times: DetectTimes): Detector {
  return {
    kind: 'acp',
    applies: isCommand,
    async detect(target, deps) {
      const { command, env, entry, name } = await resolveProgram(target, deps)
      const limit = createTimeLimit(isPackageRunner(target) ? times.fetchedMs : times.programMs, deps.signal)
      const log = createQuietLog()
      const programs = createProgramManager(memoryKeyValueStore(), log)
      const started: ReturnType<typeof programs.start>[] = []
      const opening = openAcpPeer({
        entry: acpEntry.parse({ command: [...command], startTimeout: `${limit.ms}ms` }),
        env,
        cwd: deps.cwd,
        programs: {
          ...programs,
          start(options) {
            const program = programs.start({ ...options, graceMs: Math.min(options.graceMs, 1_000) })
            started.push(program)
            return program
          },
        },
        log,
        name,
        onUpdate() {},
        onPermission: async () => cancelledPermission,
        files: undefined,
        terminals: undefined,
      })
      try {
        const { info } = await abortable(limit.signal, opening)
        const shown = info?.title ?? info?.name ?? name
        const notes = [`${shown} implements the Agent Client Protocol. It works in \`cwd\`.`]
        return { kind: 'acp', name: agentNameFrom(info?.name, name), entry, notes }
      } catch (reason) {
        const said = log.lastLine === undefined ? '' : ` (output: ${log.lastLine})`
        return { reasons: [`${limit.reasonFor(reason)}${said}`] }
      } finally {
        await Promise.all(started.map((program) => program.stop()))
        await opening.then(
          (peer) => peer.stop(),
          () => {},
        )
        await programs.settled()
      }
    },
  }
}
