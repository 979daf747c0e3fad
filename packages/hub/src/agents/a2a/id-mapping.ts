/**
 * Maps ids between the two sides beyond one task: local to remote task ids, and the context id that the remote agent chose
 * if it did not accept ours.
 */
import type { Turn } from '@parley/a2a'
import type { AgentServices } from '../kind.ts'
import { sessionKeyOf } from '../session-key.ts'
import { defaultContextId } from './checkpoint.ts'

export interface RemoteIdMapping {
  /** The remote context id of the conversation that the turn belongs to. */
  remoteContextId(turn: Turn): Promise<string>
  /** Records the task and context that the remote agent answered with. */
  record(turn: Turn, remote: { readonly taskId: string; readonly contextId: string | undefined }): Promise<void>
  /** The remote ids of the local tasks that the message references. */
  remoteReferences(turn: Turn): Promise<readonly string[]>
}

/** Longer than users return to a conversation. */
const retentionMs = 90 * 86_400_000

export function createRemoteIdMapping({ name, kv, now }: Pick<AgentServices, 'name' | 'kv' | 'now'>): RemoteIdMapping {
  return {
    async remoteContextId(turn) {
      const note = await kv.read('context', sessionKeyOf(turn, name))
      return typeof note?.value === 'string' ? note.value : defaultContextId(turn, name)
    },
    async record(turn, { taskId, contextId }) {
      const expiresAt = now() + retentionMs
      await kv.write('task', { key: turn.task.id, value: taskId, expiresAt })
      if (contextId === undefined || contextId === '' || contextId === defaultContextId(turn, name)) return
      const session = sessionKeyOf(turn, name)
      if (await isClaimedByOther(contextId, session, expiresAt)) return
      await kv.write('context', { key: session, value: contextId, expiresAt })
    },
    async remoteReferences(turn) {
      if (turn.message.referenceTaskIds === undefined) return []
      // Only tasks that the caller may see.
      const tasks = await turn.references()
      const found = await Promise.all(tasks.map(({ id }) => kv.read('task', id)))
      return found.flatMap((note) => (typeof note?.value === 'string' ? [note.value] : []))
    },
  }

  /**
   * True if the context belongs to another conversation. If a remote agent puts two callers into one context, the hub does
   * not use it.
   */
  async function isClaimedByOther(contextId: string, session: string, expiresAt: number): Promise<boolean> {
    const claimed = await kv.write('claim', { key: contextId, value: session, expiresAt }, 0)
    return claimed === undefined && (await kv.read('claim', contextId))?.value !== session
  }
}
