/**
 * The store remembers which configuration file its hub had. Without the file the next start would serve the demo agents to everyone,
 * beside the tasks and keys of a hub that had restricted access, so it says that the file is missing.
 */
import type { AgentLog } from '@parley/a2a'
import type { KeyValueStore } from '@parley/a2a/stores'

const kind = 'config'
const key = 'file'

/** Warns if there is no file although this store had one. */
export async function recordConfigFile(
  kv: KeyValueStore,
  file: string | undefined,
  log: Pick<AgentLog, 'warn'>,
): Promise<void> {
  const recorded = await kv.read(kind, key)
  if (file === undefined) {
    if (typeof recorded?.value === 'string')
      log.warn(
        `${recorded.value} was removed: the demo agents, which are open to all callers, are used instead. Create it again, or name the configuration with --config.`,
      )
  } else if (recorded?.value !== file) await kv.write(kind, { key, value: file }, recorded?.version)
}
