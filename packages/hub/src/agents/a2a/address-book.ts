/**
 * What belongs to what on the two sides, beyond one task: which of our tasks is which of theirs, and which context they
 * chose for a conversation where they did not take ours.
 */
import type { Turn } from '@parley/a2a'
import type { KindParts } from '../kind.ts'
import { sessionKeyOf } from '../session-key.ts'
import { contextIdOf } from './place.ts'

export interface AddressBook {
  /** Theirs, for the conversation that the turn belongs to. */
  contextOf(turn: Turn): Promise<string>
  /** They answered in this context. */
  learn(turn: Turn, remote: { readonly taskId: string; readonly contextId: string | undefined }): Promise<void>
  /** Theirs, of those of our tasks that the message refers to. */
  references(turn: Turn): Promise<readonly string[]>
}

/** Longer than conversations are gone back to. */
const keptMs = 90 * 86_400_000

export function createAddressBook({ name, notes, now }: Pick<KindParts, 'name' | 'notes' | 'now'>): AddressBook {
  return {
    async contextOf(turn) {
      const note = await notes.read('context', sessionKeyOf(turn, name))
      return typeof note?.value === 'string' ? note.value : contextIdOf(turn, name)
    },
    async learn(turn, { taskId, contextId }) {
      const expiresAt = now() + keptMs
      await notes.write('task', { key: turn.task.id, value: taskId, expiresAt })
      if (contextId === undefined || contextId === '' || contextId === contextIdOf(turn, name)) return
      const session = sessionKeyOf(turn, name)
      if (await isClaimed(contextId, session, expiresAt)) return
      await notes.write('context', { key: session, value: contextId, expiresAt })
    },
    async references(turn) {
      if (turn.message.referenceTaskIds === undefined) return []
      // Only those that the caller may see.
      const tasks = await turn.references()
      const found = await Promise.all(tasks.map(({ id }) => notes.read('task', id)))
      return found.flatMap((note) => (typeof note?.value === 'string' ? [note.value] : []))
    },
  }

  /** Whether it is another conversation's. An agent that puts two callers into one context is not helped to do so. */
  async function isClaimed(contextId: string, session: string, expiresAt: number): Promise<boolean> {
    const claimed = await notes.write('claim', { key: contextId, value: session, expiresAt }, 0)
    return claimed === undefined && (await notes.read('claim', contextId))?.value !== session
  }
}
