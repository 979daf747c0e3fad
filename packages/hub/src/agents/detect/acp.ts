/** A program that speaks the Agent Client Protocol: it says so when it is greeted. No session is begun, and nothing asked. */
import { memoryNotes } from '@parley/a2a'
import { acpEntry } from '../acp/entry.ts'
import { openPeer } from '../acp/peer.ts'
import { openPrograms } from '../programs/leftovers.ts'
import { unlessAborted } from '../unless-aborted.ts'
import type { Detector } from './detect.ts'
import type { DetectTimes } from './times.ts'
import { nameFrom } from './name.ts'
import { isCommand, isFetched, programIn } from './program.ts'
import { quietLog } from './quiet-log.ts'
import { timeLimit } from './time-limit.ts'

const refused = { outcome: { outcome: 'cancelled' as const } }

export function acpDetector(times: DetectTimes): Detector {
  return {
    kind: 'acp',
    applies: isCommand,
    async detect(target, parts) {
      const { command, env, entry, name } = await programIn(target, parts)
      const limit = timeLimit(isFetched(target) ? times.fetchedMs : times.programMs, parts.signal)
      const log = quietLog()
      const programs = openPrograms(memoryNotes(), log)
      const started: ReturnType<typeof programs.start>[] = []
      const opening = openPeer({
        entry: acpEntry.parse({ command: [...command], startTimeout: `${limit.ms}ms` }),
        env,
        cwd: parts.cwd,
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
        onPermission: async () => refused,
        files: undefined,
        terminals: undefined,
      })
      try {
        const { info } = await unlessAborted(opening, limit.signal)
        const shown = info?.title ?? info?.name ?? name
        const notes = [`${shown} speaks the Agent Client Protocol. It works in \`cwd\`; see docs/agents/acp.md.`]
        return { kind: 'acp', name: nameFrom(info?.name, name), entry, notes }
      } catch (reason) {
        const said = log.lastLine === undefined ? '' : ` (it says: ${log.lastLine})`
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
